import { ParentBasedSampler, type Sampler, SamplingDecision } from '@opentelemetry/sdk-trace'

export interface SamplingOptions {
  /** The share of requests that are recorded if the caller does not decide, from 0 to 1. */
  readonly sampleRatio: number
  /** Whether the caller's `traceparent` decides. */
  readonly trustParent: boolean
}

/**
 * Creates a sampler that decides which requests are recorded. The spans within a request follow this decision. The decision is
 * random and does not use the trace id: a caller chooses the trace id, and could choose one that is always recorded.
 */
export function createSampler({ sampleRatio, trustParent }: SamplingOptions): Sampler {
  const chance = createChanceSampler(sampleRatio)
  const untrusted = { remoteParentSampled: chance, remoteParentNotSampled: chance }
  return new ParentBasedSampler({ root: chance, ...(trustParent ? {} : untrusted) })
}

function createChanceSampler(ratio: number): Sampler {
  return {
    shouldSample: () => ({
      decision: Math.random() < ratio ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD,
    }),
    toString: () => `ChanceSampler{${ratio}}`,
  }
}
