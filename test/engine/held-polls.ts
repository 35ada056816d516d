import { startChild } from './child.ts'
import type { GatewayProcess } from './gateway-process.ts'
import type { PollReport } from './poll-holder.ts'

export interface HeldPolls {
  /** Resolves when all polls have been sent. */
  readonly waiting: Promise<unknown>
  readonly over: Promise<PollReport>
  readonly stop: () => Promise<void>
}

/** Starts a process with clients that each send one poll on one connection. */
export function holdPolls(
  { address, headers }: Pick<GatewayProcess, 'address' | 'headers'>,
  { count, holdMs }: { readonly count: number; readonly holdMs: number },
): HeldPolls {
  let tell: (report: PollReport) => void
  const over = new Promise<PollReport>((resolve) => (tell = resolve))
  const child = startChild({
    command: process.execPath,
    args: [
      new URL('poll-holder.ts', import.meta.url).pathname,
      `--port=${new URL(address).port}`,
      `--count=${count}`,
      `--hold=${holdMs}`,
      `--authorization=${headers['authorization'] ?? ''}`,
    ],
    ready: /^waiting$/,
    withinMs: 60_000,
    onLine: (line) => {
      if (line.startsWith('{')) tell(JSON.parse(line))
    },
  })
  return { waiting: child, over, stop: async () => (await child).stop() }
}
