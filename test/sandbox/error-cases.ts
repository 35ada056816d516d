import type { Ask } from '../engine/exchange.ts'
import { planOf } from './asks.ts'

/** Entities of the engine to which the requests are sent. */
export interface LoadedEntities {
  /** A running process instance. */
  readonly instanceId: string
  /** The ids of the two versions of 'moving'. */
  readonly versions: readonly string[]
}

export interface ErrorCase {
  readonly ask: Ask
  readonly status: number
  readonly body: unknown
}

/** Returns requests that an engine and the sandbox refuse with the same status and body. */
export function errorCasesOf(known: LoadedEntities): readonly ErrorCase[] {
  return rowsOf(known).map(([line, status, body, sent]) => {
    const [method, path = ''] = line.split(' ')
    return { ask: { method: methodOf(method), path, body: sent }, status, body }
  })
}

function methodOf(text: string | undefined): Ask['method'] {
  const method = (['GET', 'POST', 'PUT', 'DELETE'] as const).find((one) => one === text)
  if (method === undefined) throw new Error(`not a method: ${text}`)
  return method
}

const notFound = { type: 'NotFoundException', message: 'HTTP 404 Not Found', code: null }
const notAllowed = { type: 'NotAllowedException', message: 'HTTP 405 Method Not Allowed', code: null }

function invalid(message: string, code: number | null = null) {
  return { type: 'InvalidRequestException', message, code }
}

function noKey(message: string) {
  return { type: 'RestException', message: `No matching ${message}`, code: null }
}

function noTask(type: string, doing: string) {
  return { type, message: `${doing}Cannot find task with id nosuch: task is null`, code: 0 }
}

type Line = readonly [ask: string, status: number, body: unknown, sent?: unknown]

function rowsOf({ instanceId, versions }: LoadedEntities): readonly Line[] {
  return [
    ['GET /nosuch', 404, notFound],
    ['GET /task/x/nosuch', 404, notFound],
    ['GET //task/count', 404, notFound],
    ['GET /%74ask/count', 404, notFound],
    ['GET /engine/nosuch/nosuch', 404, notFound],
    ['GET /engine/nosuch/task/count', 400, invalid('No process engine available')],
    ['DELETE /task/count', 405, notAllowed],
    ['PUT /signal', 405, notAllowed, {}],
    [
      'GET /task?maxResults=abc',
      404,
      { type: 'QueryParamException', message: 'HTTP 404 Not Found', code: null },
    ],
    ['GET /task/nosuch', 404, invalid('No matching task with id nosuch')],
    ['POST /task/nosuch/claim', 500, noTask('NullValueException', ''), { userId: 'mary' }],
    ['POST /task/nosuch/complete', 500, noTask('RestException', 'Cannot complete task nosuch: '), {}],
    ['PUT /task/nosuch', 404, invalid('No matching task with id nosuch'), {}],
    ['GET /process-instance/nosuch', 404, invalid('Process instance with id nosuch does not exist')],
    ['GET /process-instance/nosuch/comment', 404, invalid('No process instance found for id nosuch')],
    ['GET /execution/nosuch', 404, invalid('Execution with id nosuch does not exist')],
    ['GET /process-definition/nosuch', 404, invalid('No matching definition with id nosuch', 0)],
    [
      'GET /process-definition/key/nosuch',
      404,
      noKey('process definition with key: nosuch and no tenant-id'),
    ],
    [
      'GET /process-definition/key/tenantReview',
      404,
      noKey('process definition with key: tenantReview and no tenant-id'),
    ],
    [
      'POST /process-definition/key/nosuch/submit-form',
      404,
      noKey('process definition with key: nosuch and no tenant-id'),
      {},
    ],
    [
      'GET /process-definition/key/nosuch/tenant-id/acme/rendered-form',
      404,
      noKey('process definition with key: nosuch and tenant-id: acme'),
    ],
    [
      'GET /decision-definition/key/nosuch/diagram',
      404,
      noKey('decision definition with key: nosuch and no tenant-id'),
    ],
    [
      'POST /decision-definition/nosuch/evaluate',
      404,
      invalid(
        "Cannot evaluate decision nosuch: no deployed decision definition found with id 'nosuch': decisionDefinition is null",
        0,
      ),
      {},
    ],
    [
      'GET /history/decision-instance/nosuch',
      404,
      invalid("Historic decision instance with id 'nosuch' does not exist"),
    ],
    ['POST /signal', 400, invalid('No signal name given'), {}],
    [
      'POST /execution/nosuch/signal',
      500,
      {
        type: 'RestException',
        message: "Cannot signal execution nosuch: execution nosuch doesn't exist: execution is null",
        code: 0,
      },
      {},
    ],
    [
      'PUT /process-instance/nosuch/variables/a',
      500,
      {
        type: 'RestException',
        message: "Cannot put process instance variable a: execution nosuch doesn't exist: execution is null",
        code: 0,
      },
      { value: 1 },
    ],
    [
      `PUT /process-instance/${instanceId}/variables/a`,
      400,
      invalid("Cannot put process instance variable a: Unsupported value type 'Nosuch'"),
      { value: 1, type: 'Nosuch' },
    ],
    [
      'POST /migration/execute',
      400,
      {
        type: 'BadUserRequestException',
        message: 'Process instance ids cannot empty: process instance ids is empty',
        code: 0,
      },
      { migrationPlan: planOf(versions) },
    ],
    [
      'POST /migration/execute',
      500,
      {
        type: 'ProcessEngineException',
        message: "ENGINE-23003 Process instance 'x' cannot be migrated. The process instance does not exist",
        code: 0,
      },
      { migrationPlan: planOf(versions), processInstanceIds: ['x'] },
    ],
    [
      'POST /migration/execute',
      400,
      invalid("ENGINE-23008 Source process definition with id 'nosuch' does not exist", 0),
      { migrationPlan: planOf(['nosuch', versions[1]]), processInstanceIds: ['x'] },
    ],
  ]
}
