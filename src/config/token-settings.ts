import { z } from 'zod'
import { SECRET_BYTES, secretBytesOf, sharedSecret } from './shared-secret.ts'
import { age, httpUrl, issuerName, issuerUrl, time } from './values.ts'

const FIVE_MINUTES_MS = 300_000
const TEN_MINUTES_MS = 600_000
const ONE_HOUR_MS = 3_600_000
const MAX_ISSUERS = 8
const MAX_NAMES = 16
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const

const word = z.string().min(1)
/** A collision-resistant name (RFC 7519 section 4.2) whose dots are all in the host. */
const URI_NAME = /^https?:\/\/[^/]+(?:\/[^.]*)?$/
/** Dots separate the names of nested members, unless the text is a URI. A text is refused if a dot could be either. */
const claimText = word.transform((text, context) => {
  if (URI_NAME.test(text)) return [text]
  const names = text.split('.')
  const isAmbiguous = names.length > 1 && /[/:]/.test(text)
  if (!isAmbiguous && names.every((name) => name !== '')) return names
  context.addIssue({
    code: 'custom',
    message: isAmbiguous
      ? 'a dot here may be part of a name: write a list of names'
      : 'a name between the dots is empty',
  })
  return z.NEVER
})
const claim = z
  .union(
    [claimText, z.array(word).min(1).max(8)],
    'a path like realm_access.roles or a list of names is needed',
  )
  .meta({ title: 'path like `realm_access.roles`, or a list of names' })
const claims = z.array(claim).max(MAX_NAMES)
const from = z.enum(['token', 'source', 'both'])

const skew = age()
  .refine((ms) => ms <= FIVE_MINUTES_MS, 'must be at most 5m')
  .default(30_000)
  .describe('How far the clocks may differ, at most five minutes.')

const claimSettings = z
  .strictObject({
    user: claim
      .default(['sub'])
      .describe(
        'The user id. Danger: take a claim that nobody can change for oneself, as `preferred_username` or `email` may be.',
      ),
    client: claim
      .nullable()
      .default(null)
      .describe(
        'The user id where `user` is absent, for client credentials: `client_id`. Null: such a token is refused. ' +
          'Danger: with a claim that tokens of users have, too, as `azp`, a user without `user` acts as the client.',
      ),
    groups: claims
      .default([])
      .describe(
        'Groups, each a text or a list of texts. A path is names separated by dots. A name that contains a dot is written in a list: `[resource_access, my.client, roles]`. A URI like `https://app.example.com/roles` is one name.',
      ),
    tenants: claims.default([]).describe('Tenants, written as `groups`.'),
    required: claims
      .default([])
      .describe(
        'Claims of `groups` and `tenants` that every token must contain, written as there. A token without one is refused; an empty list is enough.',
      ),
  })
  .superRefine(({ groups, tenants, required }, context) => {
    const known = new Set([...groups, ...tenants].map((path) => JSON.stringify(path)))
    for (const [at, path] of required.entries())
      if (!known.has(JSON.stringify(path)))
        context.addIssue({
          code: 'custom',
          path: ['required', at],
          message: 'must be a claim of groups or tenants',
        })
  })

const issuer = z
  .strictObject({
    name: issuerName.describe('The name in logs and metrics, another one for each issuer.'),
    issuer: issuerUrl.describe(
      'As `iss` of its tokens has it, letter by letter. Its keys are found by `{issuer}/.well-known/openid-configuration`.',
    ),
    jwksUri: httpUrl
      .nullable()
      .default(null)
      .describe('Where its keys are read, without discovery: where the gateway reaches it by another name.'),
    audience: z
      .array(word)
      .min(1, 'at least one audience is needed')
      .max(MAX_NAMES)
      .describe(
        'One of these must be in `aud`. Danger: take none that is the id of a client whose users get ID tokens: ID tokens have it, too.',
      ),
    algorithms: z
      .array(z.enum(ALGORITHMS))
      .min(1, 'at least one algorithm is needed')
      .default(['RS256', 'PS256', 'ES256', 'EdDSA'])
      .describe('Signatures that are accepted.'),
    types: z
      .array(z.enum(['at+jwt', 'JWT']))
      .min(1, 'at least one type is needed')
      .default(['at+jwt', 'JWT'])
      .describe(
        'Values of `typ` in the header; a token without is a `JWT`. With `[at+jwt]` alone no ID token passes, where the issuer marks its access tokens (RFC 9068).',
      ),
    skew,
    claims: claimSettings.prefault({}).describe('Where the user, groups and tenants stand.'),
    userPrefix: z
      .string()
      .max(64)
      .default('')
      .describe(
        'Before each user id of a token. Danger: without it a user of the issuer is the user of the same name of the source and of other issuers.',
      ),
    groupPrefix: z
      .string()
      .max(64)
      .nullable()
      .default(null)
      .describe(
        "Before each group of a token; null: the issuer's `name` and a colon, as `keycloak:clerks`. Danger: with an empty one whoever gives groups at the issuer gives those of `authorization.adminGroups`, too.",
      ),
    groups: from
      .default('token')
      .describe(
        'Where the groups come from: the token, the users of `identity.source`, or both. With `source` and `both` a user who is not known there is refused.',
      ),
    tenants: from.default('token').describe('Where the tenants come from, as `groups`.'),
    refresh: time(10_000)
      .default(TEN_MINUTES_MS)
      .describe(
        'From one reading of the keys to the next. A token with an unknown key has them read at once, at most every ten seconds.',
      ),
    staleAfter: age()
      .default(ONE_HOUR_MS)
      .describe(
        'Keys that were last read longer ago verify nothing: tokens of the issuer are 503. It is longer than `refresh`.',
      ),
  })
  .refine(({ refresh, staleAfter }) => staleAfter > refresh, {
    path: ['staleAfter'],
    error: 'must be longer than refresh',
  })

const session = z
  .strictObject({
    secret: sharedSecret.describe(
      "The web client's `cibseven.webclient.authentication.jwtSecret`, best as `${file:…}`. Danger: whoever knows it can be every user.",
    ),
    algorithms: z
      .array(z.enum(['HS256', 'HS384', 'HS512']))
      .min(1, 'at least one algorithm is needed')
      .optional()
      .describe(
        'Signatures that are accepted; each needs a secret as long as its digest: 32, 48 or 64 bytes. Default: those that the secret is long enough for.',
      ),
    skew,
  })
  .superRefine(({ secret, algorithms = [] }, context) => {
    for (const algorithm of algorithms)
      if (secretBytesOf(secret) < SECRET_BYTES[algorithm])
        context.addIssue({
          code: 'custom',
          path: ['algorithms'],
          message: `${algorithm} needs a secret of ${SECRET_BYTES[algorithm]} bytes`,
        })
  })

export type TokensConfig = z.infer<typeof tokenSettings>
export type IssuerConfig = z.infer<typeof issuer>

/** The section `identity.tokens`. */
export const tokenSettings = z
  .strictObject({
    issuers: z
      .array(issuer)
      .max(MAX_ISSUERS, `at most ${MAX_ISSUERS} issuers are taken`)
      .default([])
      .describe('Issuers of access tokens: JSON Web Tokens of OpenID Connect providers. At most eight.'),
    session: session
      .nullable()
      .default(null)
      .describe(
        "Session tokens of CIB seven's web client: `sub` is a user of `identity.source`, whose groups and tenants count. Null: none are accepted.",
      ),
    remember: age()
      .default(FIVE_MINUTES_MS)
      .describe(
        'How long a verified token needs no new verification, at most until it expires. Where the users of the source are asked, `identity.remember` counts if it is shorter. Zero: nothing is remembered.',
      ),
  })
  .superRefine(({ issuers, session: sessions }, context) => {
    if (issuers.length === 0 && sessions === null)
      context.addIssue({ code: 'custom', message: 'an issuer or session is needed' })
    for (const member of ['name', 'issuer'] as const)
      for (const [at, one] of issuers.entries()) {
        const first = issuers.findIndex((other) => other[member] === one[member])
        if (first < at)
          context.addIssue({
            code: 'custom',
            path: ['issuers', at, member],
            message: `is that of issuers[${first}]`,
          })
      }
  })
