import { EngineRefusal, jsonRefusalOf } from '../../../errors.ts'
import type { NotFoundResponse, CrossTenantResponse } from '../../../operations/notation.ts'
import { bodyFlag, bodyText } from '../../../request/body.ts'
import { hasMember } from '../entities/lookup-rules.ts'
import { compileReference, internName, isEntity } from './compile-permission.ts'
import type { CrossTenantTemplate, Template } from './compiled-check.ts'
import type { EvaluationContext } from './evaluation-context.ts'
import type { NamingScope } from './naming-scope.ts'
import { attributesOf, isSameReference } from './references.ts'
import { NO_ROWS, NO_SUCH_ENTITY } from './refusals.ts'

const RESPONSE = /^(\d{3}) (\w+Exception)( 0)?: (.+)$/s
const PLACEHOLDER = /\{([^{}]*)\}/

/** Compiles a response of the engine. @throws Error if the text is no response, or a placeholder in it cannot be filled */
export function compileTemplate(text: NotFoundResponse, scope: NamingScope): Template {
  if (text === '200 []') return NO_ROWS
  if (text === '204') return (_context, reason = NO_SUCH_ENTITY) => new EngineRefusal({ status: 204, reason })
  const [, digits, type, code, message = ''] = RESPONSE.exec(text) ?? []
  const status = Number(digits)
  if (type === undefined || status < 400 || status > 599)
    throw new Error(`"${text}" does not have the form "404 SomeException: message"`)
  const write = compileMessage(message, scope)
  return (context, reason = NO_SUCH_ENTITY) =>
    jsonRefusalOf(status, { type, message: write(context), code: code === undefined ? null : 0 }, reason)
}

/** Compiles the response for another tenant's entity. @throws Error as compileTemplate does */
export function compileCrossTenant(text: CrossTenantResponse, scope: NamingScope): CrossTenantTemplate {
  return text === 'ignored' ? text : compileTemplate(text, scope)
}

type ReadPlaceholder = (context: EvaluationContext) => string | null

function compileMessage(message: string, scope: NamingScope): (context: EvaluationContext) => string {
  // Every second piece is the name of a placeholder.
  const pieces = message
    .split(PLACEHOLDER)
    .map(
      (piece, index): ReadPlaceholder => (index % 2 === 0 ? () => piece : compilePlaceholder(piece, scope)),
    )
  return (context) => pieces.map((read) => read(context) ?? 'null').join('')
}

function compilePlaceholder(name: string, scope: NamingScope): ReadPlaceholder {
  const read = compileWord(name, scope)
  if (read === null) throw new Error(`unknown placeholder {${name}}`)
  return read
}

const CHOICE = /^(\w+)\?(\w+):(\w+)$/
const MEMBER = /^(.+)\.(\w+)$/
const BODY = /^\w+(?:\.\w+)*$/

/** Returns a function that reads the value of a placeholder, or null if the name has no value. */
function compileWord(name: string, scope: NamingScope): ReadPlaceholder | null {
  if (name === 'created') return scope.isAfter ? ({ created }) => created ?? '' : null
  const [, holder = '', text = ''] = MEMBER.exec(name) ?? []
  const member = internName(text)
  if (holder === 'each') return scope.each === null ? null : ({ each }) => each?.[member] ?? null
  if (isEntity(holder)) return compileMember(holder, member, scope)
  return compileRequestMember(internName(name), scope)
}

/** Compiles a placeholder for a path parameter, a member of the body, or a choice by a flag of the body. */
function compileRequestMember(name: string, { parameters, hasBody }: NamingScope): ReadPlaceholder | null {
  if (parameters.has(name)) return ({ accessRequest }) => accessRequest.params[name] ?? null
  if (!hasBody) return null
  const [, flag, yes = '', no = ''] = CHOICE.exec(name) ?? []
  if (flag !== undefined) return ({ accessRequest }) => (bodyFlag(accessRequest.body, flag) ? yes : no)
  return BODY.test(name) ? ({ accessRequest }) => bodyText(accessRequest.body, name) : null
}

/** Compiles a placeholder for a member of an entity. Null if the operation does not look up the entity, or the entity has no such member. */
function compileMember(entity: string, member: string, scope: NamingScope): ReadPlaceholder | null {
  const reference = compileReference(entity, scope)
  const isLookedUp = scope.entities.some((one) => isSameReference(one, reference))
  return isLookedUp && hasMember(reference.lookup, member)
    ? (context) => attributesOf(reference, context)?.[member] ?? null
    : null
}
