import { executionAsyncResource } from 'node:async_hooks'

const DAY_MS = 86_400_000

/**
 * Keeps one of the objects that Node 24's `process.nextTick` makes, until the process ends. V8 forgets their hidden class when it
 * collects the heap at a moment when there is none, and a tick never gets quick again after that: half a microsecond instead of
 * 35 ns, and a request takes some ten of them.
 */
export function keepTicksQuick(): void {
  process.nextTick(() => {
    const kept = executionAsyncResource()
    setInterval(() => void kept, DAY_MS).unref() // which holds it
  })
}
