import type { z } from 'zod'
import type { FindSectionProblems } from './config/engine-surroundings.ts'
import { gaugeProblems, gauges } from './features/gauges/settings.ts'

/** The sections of the features in the settings of each engine, by key. */
export const ENGINE_SECTIONS = {
  gauges,
}

type EngineSections = {
  readonly [Key in keyof typeof ENGINE_SECTIONS]: z.infer<(typeof ENGINE_SECTIONS)[Key]>
}

/** The checks of these sections against other settings of the engine. */
export const SECTION_PROBLEMS: readonly FindSectionProblems<EngineSections>[] = [gaugeProblems]
