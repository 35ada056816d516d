import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isShownName, shownPath } from './shown-name.ts'

/** A name without a value, and where it is used. */
export interface MissingVariable {
  readonly path: readonly PropertyKey[]
  readonly message: string
}

/** A variable that was replaced, and the path of the value that contained it. */
export interface UsedVariable {
  readonly path: readonly PropertyKey[]
  /** The name between `${` and `}`, without a default. */
  readonly name: string
}

export interface Substitution {
  readonly env: NodeJS.ProcessEnv
  /** The base of a relative `${file:…}`. */
  readonly base: string
  /** Receives a line for every name without a value. */
  readonly missing: MissingVariable[]
  /** Receives every variable that was replaced. */
  readonly used: UsedVariable[]
  readonly path: readonly PropertyKey[]
}

/** Replaces `${VAR}`, `${VAR:-default}` and `${file:/path}` in every string value. */
export function substitute(value: unknown, context: Substitution): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{([^}]+)\}/g, (_, name) => resolveName(name, context))
  if (Array.isArray(value))
    return value.map((item, index) => substitute(item, { ...context, path: [...context.path, index] }))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      substitute(item, { ...context, path: [...context.path, key] }),
    ]),
  )
}

function resolveName(expression: string, { env, base, missing, used, path }: Substitution): string {
  if (expression.startsWith('file:')) {
    try {
      return readFileSync(resolve(base, expression.slice(5)), 'utf8').trimEnd()
    } catch {
      missing.push({ path, message: `the file ${shownPath(expression.slice(5))} cannot be read` })
      return ''
    }
  }
  const [, name = '', fallback] = /^([^:]+)(?::-(.*))?$/s.exec(expression) ?? []
  // As in a shell, an empty variable also takes the default.
  const found = env[name] === '' ? (fallback ?? '') : (env[name] ?? fallback)
  if (found === undefined)
    missing.push({
      path,
      message: isShownName(name)
        ? `the environment variable ${name} is not set`
        : 'the name of an environment variable is needed between ${ and }',
    })
  else used.push({ path, name })
  return found ?? ''
}
