import { z } from 'zod'
import { OF_A_FILE } from '../config/config-problems.ts'
import { parseText, shaped } from './file-problems.ts'

const text = z.string().min(1)

const policyTest = z.strictObject({
  name: text.optional(),
  user: text,
  engine: text.optional(),
  /** A request like `POST /task/x/complete`, with or without the base path. */
  request: z.string().regex(/^\S+ \/\S*$/, 'write it like POST /task/ID/complete'),
  /** A text is sent unchanged, any other value as JSON. */
  body: z.unknown().optional(),
  expect: z.enum(['permit', 'refuse']),
  /** The visible items of a list. */
  items: z.enum(['all', 'some', 'none']).optional(),
  /** The status of a refusal, as the caller receives it. */
  status: z.int().min(400).max(599).optional(),
})

const factValue = z.union([z.string(), z.null(), z.array(text)], {
  error: 'a text, null or a list of texts is needed',
})

const schema = z.strictObject(
  {
    tests: z.array(policyTest).min(1, 'at least one test is needed'),
    /** Entities by kind and id. With facts, the tests need no engine. */
    facts: z.record(z.string(), z.record(z.string(), z.record(z.string(), factValue).nullable())).optional(),
  },
  OF_A_FILE,
)

/** A test of an expected decision. */
export type PolicyTest = z.infer<typeof policyTest>

export type PolicyTestFile = z.infer<typeof schema>

/** Returns the tests and facts in the text of a file. @throws ConfigError that names every problem */
export function policyTestsOf(content: string, file: string): PolicyTestFile {
  return shaped(file, schema, parseText(file, content))
}
