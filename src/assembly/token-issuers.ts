import { type Config, type IssuerConfig, settingsOf, type TokensConfig } from '../config/config.ts'
import type { Logger } from '../log.ts'
import { createIssuerKeys, type IssuerKeys, type IssuerKeyState } from '../policy/authn/issuer-keys.ts'
import type { ClaimSettings } from '../policy/authn/token-claims.ts'
import type { TokenIssuer } from '../policy/authn/tokens.ts'
import { secretKeyOf } from '../policy/authn/verification-key.ts'

/** The keys that were read from each issuer, by their source. */
export type IssuerKeyStates = ReadonlyMap<string, IssuerKeyState>

/** The keys of all issuers. Each issuer is read once, even if several engines accept its tokens. */
export interface IssuerKeySets {
  readonly of: (setting: IssuerConfig) => IssuerKeys
  /** Resolves after the first read of every issuer, successful or not. */
  readonly start: () => Promise<void>
  readonly close: () => void
  /** The keys that the next runtime takes over. */
  readonly states: IssuerKeyStates
}

/** An issuer of one engine's configuration. */
export interface NamedIssuer {
  readonly name: string
  readonly keys: Pick<IssuerKeys, 'state'>
}

/** @param before keys that the previous configuration has read; they are used if the issuer is unchanged */
export function createIssuerKeySets(
  config: Config,
  log: Logger,
  before: IssuerKeyStates | null,
): IssuerKeySets {
  const states = new Map<string, IssuerKeyState>()
  const all = new Map<string, IssuerKeys>()
  for (const setting of issuerSettingsOf(config)) {
    const key = settingKeyOf(setting)
    if (all.has(key)) continue
    const place = placeOf(setting)
    const keys = createIssuerKeys({
      ...readingOf(setting),
      keyState: states.get(place) ?? before?.get(place),
      onChange: (problem) => logChange(log, setting, problem),
    })
    states.set(place, keys.keyState)
    all.set(key, keys)
  }
  return {
    of: (setting) => {
      const keys = all.get(settingKeyOf(setting))
      if (keys === undefined) throw new Error(`The issuer ${setting.name} was not opened`)
      return keys
    },
    start: async () => void (await Promise.all([...all.values()].map((keys) => keys.start()))),
    close: () => all.forEach((keys) => keys.close()),
    states,
  }
}

/** Returns the issuers of all engines. */
export function issuerSettingsOf(config: Config): readonly IssuerConfig[] {
  return Object.values(config.engines).flatMap((engine) => acceptedTokensOf(config, engine)?.issuers ?? [])
}

/** Returns the settings of the tokens that an engine accepts, or null. */
export function acceptedTokensOf(config: Config, engine: Config['engines'][string]): TokensConfig | null {
  return settingsOf(config, engine).identity.tokens
}

/**
 * Reads the keys of an issuer for `check --connect`, without side effects. @throws Error that says why the issuer cannot be used
 */
export async function askIssuer(setting: IssuerConfig, withinMs: number): Promise<string> {
  const count = await createIssuerKeys(readingOf(setting)).count(withinMs)
  return count === 1 ? '1 key' : `${count} keys`
}

function readingOf({ issuer, jwksUri, refresh, staleAfter }: IssuerConfig) {
  return { issuer, jwksUri, refreshMs: refresh, staleAfterMs: staleAfter }
}

function placeOf({ issuer, jwksUri }: IssuerConfig): string {
  return JSON.stringify([issuer, jwksUri])
}

function settingKeyOf(setting: IssuerConfig): string {
  return JSON.stringify(readingOf(setting))
}

function logChange(log: Logger, { name, issuer }: IssuerConfig, problem: string | null): void {
  if (problem === null) log.info({ issuer, name }, 'keys of the issuer can be read again')
  else
    log.warn(
      { issuer, name, why: problem },
      'cannot read the keys of the issuer; the last keys stay in use until staleAfter, and requests with its tokens get 503 without keys',
    )
}

/**
 * Returns the issuers whose tokens an engine accepts, by `iss`.
 * @param kept claims that the principals contain
 */
export function trustedIssuersOf(
  { issuers, session }: TokensConfig,
  sets: Pick<IssuerKeySets, 'of'>,
  kept: ClaimSettings['kept'],
): ReadonlyMap<string | null, TokenIssuer> {
  const trusted = new Map<string | null, TokenIssuer>(
    issuers.map((setting) => [setting.issuer, trustedIssuerOf(setting, sets.of(setting), kept)]),
  )
  if (session !== null) trusted.set(null, sessionIssuerOf(session, kept))
  return trusted
}

function trustedIssuerOf(setting: IssuerConfig, keys: IssuerKeys, kept: ClaimSettings['kept']): TokenIssuer {
  const { name, issuer, audience, algorithms, types, skew, claims, groups, tenants } = setting
  const { userPrefix, groupPrefix } = setting
  return {
    authentication: { method: 'oidc', issuer: name },
    iss: issuer,
    keys,
    algorithms: new Set<string>(algorithms),
    types: new Set(types.map((type) => type.toLowerCase())),
    audience: new Set(audience),
    skewSeconds: skew / 1000,
    claims: { ...claims, kept, userPrefix, groupPrefix: groupPrefix ?? `${name}:` },
    groups,
    tenants,
  }
}

const SESSION_CLAIMS: Omit<ClaimSettings, 'kept'> = {
  user: ['sub'],
  client: null,
  groups: [],
  tenants: [],
  required: [],
  userPrefix: '',
  groupPrefix: '',
}

function sessionIssuerOf(
  { secret, algorithms, skew }: NonNullable<TokensConfig['session']>,
  kept: ClaimSettings['kept'],
): TokenIssuer {
  const key = secretKeyOf(Buffer.from(secret, 'base64'))
  const all: readonly string[] = algorithms ?? ['HS256', 'HS384', 'HS512']
  return {
    authentication: { method: 'session', issuer: null },
    iss: null,
    keys: {
      find: (kid, alg) => (kid === null && key.fits(alg) ? key : null),
      has: (one) => one.id === key.id,
    },
    algorithms: new Set(all.filter((alg) => key.fits(alg))),
    types: new Set(['jwt']),
    audience: null,
    skewSeconds: skew / 1000,
    claims: { ...SESSION_CLAIMS, kept },
    groups: 'source',
    tenants: 'source',
  }
}
