import {
  callerTextOf,
  type EngineRefusal,
  jsonRefusalOf,
  operatorText,
  operatorTextOf,
  type RefusalText,
} from '../errors.ts'

export function notFound(): never {
  throw notFoundRefusal()
}

function notFoundRefusal(): EngineRefusal {
  return refusalOf(404, 'NotFoundException', operatorText`HTTP 404 Not Found`)
}

/**
 * Returns the refusal of a method that the path does not have, or of a path outside the API.
 *
 * @param allow the methods of the path; null if it is outside the API
 */
export function noOperation(allow: string | null): EngineRefusal {
  if (allow === null) return notFoundRefusal()
  return refusalOf(405, 'NotAllowedException', operatorText`HTTP 405 Method Not Allowed`, { allow })
}

/** Returns the refusal in the form of the engine's authentication filter. */
export function unknownEngine(name: string): EngineRefusal {
  return refusalOf(404, 'InvalidRequestException', {
    caller: `Process engine ${name} not available`,
    operator: operatorText`no engine of this name is configured`,
  })
}

function refusalOf(status: number, type: string, text: RefusalText, headers = {}): EngineRefusal {
  return jsonRefusalOf(
    status,
    { type, message: callerTextOf(text), code: null },
    operatorTextOf(text),
    headers,
  )
}
