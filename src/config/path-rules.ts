import { z } from 'zod'

/** A rule about paths below a prefix. */
export interface PathRule {
  /** Null: every method. */
  readonly method: string | null
  /** The segments of the path. Null: any one segment. */
  readonly segments: readonly (string | null)[]
  /** Whether any number of further segments may follow. */
  readonly isOpenEnded: boolean
}

const RULE =
  /^(?:(GET|POST|PUT|PATCH|DELETE|OPTIONS) )?(\/|(?:\/(?:[A-Za-z0-9._~@:-]+|\{[A-Za-z]+\}))+(?:\/\*\*)?|\/\*\*)$/
const MAX_RULES = 200

/** Rules about paths below a prefix, as in the file. */
export const pathRules = z
  .array(
    z
      .string()
      .regex(RULE, 'write it like /app/**, /api/{name}/x or POST /api/**')
      .meta({ title: 'path below the prefix like `/app/**` or `POST /api/{name}`' }),
  )
  .max(MAX_RULES, `at most ${MAX_RULES} rules are permitted`)

/** Parses a rule that the schema has accepted. */
export function parsePathRule(text: string): PathRule {
  const [, method = null, path = ''] = RULE.exec(text) ?? []
  const words = path.split('/').filter((word) => word !== '')
  const isOpenEnded = words.at(-1) === '**'
  return {
    method,
    segments: (isOpenEnded ? words.slice(0, -1) : words).map((word) => (word.startsWith('{') ? null : word)),
    isOpenEnded,
  }
}
