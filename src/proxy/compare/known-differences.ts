import { isRecord } from '../../request/value.ts'

/**
 * A kind of difference between two families of engines that has no meaning for clients of either. `unify` converts a value of a
 * response so that this difference disappears. Observed between Camunda 7.24.0, Operaton 1.0.3 and CIB seven 2.2.0.
 */
export interface KnownDifference {
  readonly kind: string
  /** Describes the difference, for the documentation. */
  readonly about: string
  readonly unify: (value: unknown) => unknown
}

const PACKAGE = /\borg\.(?:camunda|operaton|cibseven)\b/g
const PREFIX = /\b(?:camunda|operaton|cibseven):(?=[a-z])/g
const FORM_REFERENCE = /^(?:camunda|operaton|cibseven)FormRef$/

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    kind: 'form-reference',
    about: '`camundaFormRef` of tasks has the name of the family: `operatonFormRef`',
    unify: (value) => mapMembers(value, (name) => (FORM_REFERENCE.test(name) ? 'formRef' : name)),
  },
  {
    kind: 'hal-links',
    about: 'HAL responses of Operaton have `links` and `embedded` in addition to `_links` and `_embedded`',
    unify: (value) =>
      isRecord(value) && '_links' in value
        ? Object.fromEntries(
            Object.entries(value).filter(([name]) => name !== 'links' && name !== 'embedded'),
          )
        : value,
  },
  {
    kind: 'package-name',
    about: 'names of classes in `@class`, types and messages, and prefixes such as `camunda:` in messages',
    unify: (value) =>
      typeof value === 'string' ? value.replace(PACKAGE, 'org.engine').replace(PREFIX, 'engine:') : value,
  },
]

/** Converts each value of a JSON document, the inner ones first. */
export function mapValues(value: unknown, change: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return change(value.map((item) => mapValues(item, change)))
  if (!isRecord(value)) return change(value)
  return change(
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapValues(member, change)])),
  )
}

function mapMembers(value: unknown, nameOf: (name: string) => string): unknown {
  if (!isRecord(value) || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [nameOf(name), member]))
}
