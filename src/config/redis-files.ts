import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { RedisSettings, RedisTls } from './redis-types.ts'

/** The settings with absolute file names. `base`: the folder of the configuration file. */
export function withAbsoluteTlsFiles(redis: RedisSettings, base: string): RedisSettings {
  const { tls, sentinel } = redis
  return {
    ...redis,
    ...(tls && { tls: absoluteFiles(tls, base) }),
    ...(sentinel && {
      sentinel: { ...sentinel, ...(sentinel.tls && { tls: absoluteFiles(sentinel.tls, base) }) },
    }),
  }
}

function absoluteFiles(tls: RedisTls, base: string): RedisTls {
  const files = FILES.flatMap((member) => {
    const file = tls[member]
    return file === undefined ? [] : [[member, resolve(base, file)] as const]
  })
  return { ...tls, ...Object.fromEntries(files) }
}

/** Problems of the files of certificates and keys, each as `path: problem`. */
export function tlsFileProblems({ tls, sentinel }: RedisSettings): readonly string[] {
  return [...problemsOf(tls, 'cache.redis.tls'), ...problemsOf(sentinel?.tls, 'cache.redis.sentinel.tls')]
}

const FILES = ['ca', 'cert', 'key'] as const
type TlsFile = (typeof FILES)[number]

const HOLDS = {
  ca: { parse: (pem: Buffer) => new X509Certificate(pem), problem: 'holds no certificate in PEM' },
  cert: { parse: (pem: Buffer) => new X509Certificate(pem), problem: 'holds no certificate in PEM' },
  key: {
    parse: (pem: Buffer) => createPrivateKey(pem),
    problem: 'holds no private key in PEM without a passphrase',
  },
} as const satisfies Record<TlsFile, { readonly parse: (pem: Buffer) => unknown; readonly problem: string }>

function problemsOf(tls: RedisTls | undefined, path: string): readonly string[] {
  if (tls === undefined) return []
  const problems = FILES.flatMap((member) => {
    const file = tls[member]
    const problem = file === undefined ? null : fileProblemOf(file, HOLDS[member])
    return problem === null ? [] : [`${path}.${member}: ${problem}`]
  })
  if (problems.length > 0 || tls.cert === undefined || tls.key === undefined) return problems
  const isPair = new X509Certificate(readFileSync(tls.cert)).checkPrivateKey(
    createPrivateKey(readFileSync(tls.key)),
  )
  return isPair ? [] : [`${path}.key: is not the key of cert`]
}

function fileProblemOf(file: string, { parse, problem }: (typeof HOLDS)[TlsFile]): string | null {
  const pem = readOrNull(file)
  if (pem === null) return `the file ${file} cannot be read`
  try {
    parse(pem)
    return null
  } catch {
    return `the file ${file} ${problem}`
  }
}

function readOrNull(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch {
    return null
  }
}
