import { OPERATIONS } from './all.ts'

/** The first words of the paths of the API, in lower case. `engine` begins the path of an engine with a name. */
export const API_WORDS: ReadonlySet<string> = new Set([
  'engine',
  ...OPERATIONS.map(({ template }) => (template.split('/')[1] ?? '').toLowerCase()),
])
