import { executionAsyncResource } from 'node:async_hooks'

const DAY_MS = 86_400_000

/**
 * Keeps one of the objects that `process.nextTick` of Node 24 creates, until the process ends. V8 drops their hidden class if a
 * garbage collection finds no such object. After that, ticks stay slow: half a microsecond instead of 35 ns, and a request needs
 * about ten ticks.
 *
 * V8 holds hidden classes weakly: https://github.com/nodejs/node/issues/8670. The object is created in Node's
 * `lib/internal/process/task_queues.js`.
 * @returns false if Node runs ticks on another object. In this case nothing is kept, and ticks have their normal cost.
 */
export function keepTicksQuick(resourceOf: () => object = executionAsyncResource): Promise<boolean> {
  return new Promise((resolve) => {
    process.nextTick(function tick() {
      const resource = resourceOf()
      const isTick = 'callback' in resource && resource.callback === tick
      if (isTick) setInterval(() => void resource, DAY_MS).unref() // the timer holds the object
      resolve(isTick)
    })
  })
}
