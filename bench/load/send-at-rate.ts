import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ConstantRateOptions, ConstantRateResult } from './constant-rate.ts'

/** Sends requests at a constant rate in a thread, so that other work of this process does not delay them. */
export async function sendAtRate(workerData: ConstantRateOptions): Promise<ConstantRateResult> {
  const worker = new Worker(new URL('constant-rate.ts', import.meta.url), { workerData })
  const [result] = await once(worker, 'message')
  return result
}
