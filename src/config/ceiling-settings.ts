import { z } from 'zod'
import { CEILINGS } from '../operations/ceilings.ts'
import { plainRate } from './rate-settings.ts'
import { claimPath } from './token-settings.ts'
import { listedName } from './values.ts'

const MAX_RULES = 100
const MAX_NAMES = 1000
const EVERYBODY = 'a rule without users, groups, clients and claim applies to every caller'

const names = (whom: string) =>
  z
    .array(listedName(EVERYBODY).min(1))
    .min(1, 'must not be empty: without names the rule would apply to every caller')
    .max(MAX_NAMES)
    .default([])
    .describe(whom)

const rule = z
  .strictObject({
    ceiling: z
      .enum(CEILINGS)
      .describe(
        'The most that these callers may do. `read`: operations that only read. `safe`: also the daily work on tasks, instances and external tasks, ' +
          'but no deployment, deletion, migration or modification, and no change of permissions or identities. `all`: every operation.',
      ),
    users: names('User ids. Users of tokens have the `userPrefix` of their issuer.'),
    groups: names(
      'Group ids. The rule applies to their members. Groups of tokens have the `groupPrefix` of their issuer: `keycloak:agents`.',
    ),
    clients: names(
      'Ids of OAuth clients. The rule applies to tokens that name one of them in `client_id`, `azp`, `appid` or `cid`.',
    ),
    claim: z
      .strictObject({
        path: claimPath.describe('The claim, for example `scope`.'),
        values: z
          .array(z.string().min(1))
          .min(1, 'at least one value is needed')
          .max(MAX_NAMES)
          .describe(
            'Values of the claim. A list has each of its items as a value. A text has itself and each of its words as values, as in `scope`.',
          ),
      })
      .nullable()
      .default(null)
      .describe('A claim of tokens. The rule applies to tokens whose claim has one of the values.'),
    rate: plainRate
      .nullable()
      .default(null)
      .describe(
        'Maximum rate of requests of each of these callers to each engine, instead of `limits.rate`. Their requests are counted separately. ' +
          'If several rules with a rate apply, the slowest one counts. If null, `limits.rate` applies.',
      ),
  })
  .refine(({ ceiling, rate }) => ceiling !== 'all' || rate !== null, {
    path: ['ceiling'],
    error: 'all without a rate limits nothing: set a rate or another ceiling, or leave out the rule',
  })

/** The section `limits.ceilings`. */
export const ceilings = z.array(rule).max(MAX_RULES, `at most ${MAX_RULES} rules are permitted`).default([])
