import { executionAsyncResource } from 'node:async_hooks'

const DAY_MS = 86_400_000

/**
 * Keeps one of the objects that Node 24's `process.nextTick` makes, until the process ends. V8 forgets their hidden class when it
 * collects the heap at a moment when there is none, and a tick never gets quick again after that: half a microsecond instead of
 * 35 ns, and a request takes some ten of them.
 *
 * V8 holds hidden classes weakly: https://github.com/nodejs/node/issues/8670. The object is made in Node's
 * `lib/internal/process/task_queues.js`.
 * @returns false where Node runs ticks on another object: then nothing is kept, and ticks cost what they cost
 */
export function keepTicksQuick(resourceOf: () => object = executionAsyncResource): Promise<boolean> {
  return new Promise((resolve) => {
    process.nextTick(function tick() {
      const kept = resourceOf()
      const isTick = 'callback' in kept && kept.callback === tick
      if (isTick) setInterval(() => void kept, DAY_MS).unref() // which holds it
      resolve(isTick)
    })
  })
}
