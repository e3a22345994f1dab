import { Component, type ReactNode, useInsertionEffect } from 'react';

/** Moves the cursor to the first column of the first row. */
const HOME = '\x1b[H';

type RootProps = { readonly children: ReactNode; readonly onFault: (e: unknown) => void };

/** The root of the screen: it begins at home, and a fault while drawing leaves it empty instead of with a trace on it. */
export class Root extends Component<RootProps, { readonly isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch(e: unknown): void {
    this.props.onFault(e);
  }

  override render(): ReactNode {
    return this.state.isBroken ? null : <FromHome>{this.props.children}</FromHome>;
  }
}

/** The alternate screen begins with the cursor where it stood on the normal one: behind what was typed, perhaps. */
function FromHome(p: { readonly children: ReactNode }) {
  // this effect alone runs before the first frame is written
  useInsertionEffect(() => {
    process.stdout.write(HOME);
  }, []);
  return p.children;
}

/** The terminal must be given back and the run must not go on unseen: what hears of uncaught errors does both. */
export function throwUncaught(e: unknown): void {
  queueMicrotask(() => {
    throw e;
  });
}
