import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'

export interface Load {
  readonly stop: () => Promise<void>
}

/** Repeats an action in `atOnce` parallel loops, with a pause after each call, until `stop` is called or the test ends. */
export function keep(
  t: Test,
  act: () => Promise<unknown>,
  { atOnce = 1, pauseMs = 0 }: { readonly atOnce?: number; readonly pauseMs?: number } = {},
): Load {
  const end = new AbortController()
  const loop = async (): Promise<void> => {
    while (!end.signal.aborted) {
      await act()
      await wait(pauseMs)
    }
  }
  const loops = Promise.all(Array.from({ length: atOnce }, loop))
  const stop = async (): Promise<void> => {
    end.abort()
    await loops
  }
  t.teardown(() => end.abort())
  return { stop }
}
