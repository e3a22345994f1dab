// Imported first: libraries read these when they are loaded.
// DEV would make Ink look for development tools; NO_COLOR is not known to its colour library.
delete process.env.DEV;
if (process.env.NO_COLOR) {
  if (process.env.FORCE_COLOR === undefined) process.env.FORCE_COLOR = '0';
  // with both the runtime would write a warning, into the middle of the screen
  else delete process.env.NO_COLOR;
}

export {};
