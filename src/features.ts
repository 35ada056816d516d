import type { Feature } from './feature.ts'
import { gaugesFeature } from './features/gauges/feature.ts'

/** All features, in the order in which they are provisioned. */
export const FEATURES: readonly Feature[] = [gaugesFeature]
