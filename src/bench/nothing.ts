// A program that does nothing: what the runtime itself takes to start and to end.
export {};
