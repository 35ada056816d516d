import { GatewayError, messageOf } from '../errors.ts'
import type { AskEngine } from '../request/engine-request.ts'
import { jsonValueOf, stringIn } from '../request/value.ts'
import type { ImportStep } from './import-plan.ts'
import { TransferError } from './read-list.ts'

/** The outcome of the steps of an import. */
export interface ImportResult {
  /** The number of steps that the engine has executed: the first ones. */
  readonly done: number
  /** The end of the run if not all steps were executed. Later steps were not sent. */
  readonly failure: {
    /** `refused`, `not sent`: the step has no effect. `unknown`: the engine did not respond, and may have executed it. */
    readonly outcome: 'refused' | 'not sent' | 'unknown'
    readonly reason: string
  } | null
}

/** The statuses with which a proxy responds if it gets no response from the engine. */
const OF_A_PROXY: ReadonlySet<number> = new Set([502, 503, 504])
const MAX_BYTES = 64 * 1024
const MAX_REASON = 300

/** Sends each step once, in order. Ends at the first step that the engine does not execute. */
export async function runImport(
  ask: AskEngine,
  steps: readonly ImportStep[],
  onDone: (step: ImportStep) => void,
): Promise<ImportResult> {
  for (const [done, step] of steps.entries()) {
    const failure = await runStep(ask, step)
    if (failure !== null) return { done, failure }
    onDone(step)
  }
  return { done: steps.length, failure: null }
}

async function runStep(ask: AskEngine, { request }: ImportStep): Promise<ImportResult['failure']> {
  try {
    const { status, body } = await ask({ ...request, limitBytes: MAX_BYTES })
    if (status >= 200 && status < 300) return null
    const reason = `${status} ${messageIn(body)}`.trimEnd()
    return { outcome: OF_A_PROXY.has(status) ? 'unknown' : 'refused', reason }
  } catch (error) {
    return { outcome: isUnsent(error) ? 'not sent' : 'unknown', reason: messageOf(error) }
  }
}

/** Returns whether an error means that no byte of the request has reached the engine. */
function isUnsent(error: unknown): boolean {
  return (
    error instanceof TransferError ||
    (error instanceof GatewayError && (error.code === 'GW_NO_NODE' || error.code === 'GW_OVERLOADED'))
  )
}

function messageIn(body: Buffer): string {
  return (stringIn(jsonValueOf(body), 'message') ?? '').slice(0, MAX_REASON)
}
