import { OPERATIONS } from '../../src/operations/all.ts'
import { BASE } from './open-gateway.ts'

/** A request target as an engine's container and router parse it. */
export interface Reading {
  readonly engine: string
  readonly template: string
  readonly params: Readonly<Record<string, string>>
}

const TEMPLATES = [...new Set(OPERATIONS.map(({ template }) => template))].map((template) =>
  template.slice(1).split('/'),
)

/**
 * Parses a target as an engine does. Path parameters (`;x=1`) and one trailing slash are ignored, literals are not
 * decoded, and parameters are decoded once. If two templates match, the one with a literal further left is used. The
 * result is empty if no template matches or if the container refuses the path.
 */
export function readByEngine(target: string): readonly Reading[] {
  const [path = ''] = target.split(/[?#]/, 1)
  if (!path.startsWith(`${BASE}/`) || !isDecodable(path)) return []
  const segments = path
    .slice(BASE.length + 1)
    .replace(/\/$/, '')
    .split('/')
    .map((segment) => segment.split(';', 1)[0] ?? '')
  const isNamed = segments[0] === 'engine' && segments.length > 2
  const rest = isNamed ? segments.slice(2) : segments
  const found = TEMPLATES.filter((template) => fits(template, rest)).sort(byLiterals)
  return found.slice(0, 1).map((template) => ({
    engine: isNamed ? (segments[1] ?? '') : 'default',
    template: `/${template.join('/')}`,
    params: Object.fromEntries(
      template.flatMap((part, index) =>
        part.startsWith(':') ? [[part.slice(1), decodeURIComponent(rest[index] ?? '')]] : [],
      ),
    ),
  }))
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  if (template.length !== segments.length) return false
  return template.every((part, index) =>
    part.startsWith(':') ? segments[index] !== '' : part === segments[index],
  )
}

function byLiterals(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((part, index) => part.startsWith(':') !== (b[index] ?? '').startsWith(':'))
  return at < 0 ? 0 : (a[at] ?? '').startsWith(':') ? 1 : -1
}
