import type { IncomingMessage, RequestListener } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { admit, shedLoad } from './pipeline/admit.ts'
import { checkRedeployment } from './pipeline/check-redeployment.ts'
import { checkStoredQueries } from './pipeline/check-stored-queries.ts'
import { collectGrounds, traceOf } from './pipeline/collected-grounds.ts'
import { respondToPreflights, shareResponses } from './pipeline/share-responses.ts'
import { createCanonicalApp } from './pipeline/canonical-app.ts'
import { enforce, permissionOf, rulesBetween } from './pipeline/enforcement-mode.ts'
import { createPrincipalOf } from './pipeline/authenticate-caller.ts'
import {
  DEFAULT_ENGINE,
  engineOf,
  fallbackOf,
  isOpen,
  isWellFormed,
  requireOperation,
} from './pipeline/locate-request.ts'
import { noOperation, notFound, unknownEngine } from './pipeline/not-found.ts'
import type { HandOvers } from './pipeline/hand-over.ts'
import { createObserver, observe } from './pipeline/observe.ts'
import { createPathTemplates, type PathTemplates } from './pipeline/path-templates.ts'
import { readRequest } from './pipeline/read-request.ts'
import type { Dependencies } from './pipeline/dependencies.ts'
import { createCors } from './request/cors.ts'
import { namedTargetOf } from './request/target.ts'
import { ANONYMOUS } from './request/principal.ts'
import type { Upgrades } from './request/upgrades.ts'
import { checkHazards } from './policy/validation/hazards.ts'
import { checkMedia } from './policy/validation/media.ts'
import { checkNamespaces } from './policy/validation/model-namespaces.ts'
import { checkScripts } from './policy/validation/model-scripts.ts'
import { checkMultipart, type MultipartContent, readMultipart } from './policy/validation/multipart.ts'
import { checkSelection } from './policy/validation/selectors.ts'
import { checkRules, checkShape } from './policy/validation/validate.ts'
import { checkHiddenConditions, replaceCallerExpressions } from './pipeline/caller-expressions.ts'
import { requireCeiling } from './pipeline/require-ceiling.ts'
import { refusalOf, sendRefusal } from './pipeline/replies.ts'
import type { BuildDryRun } from './pipeline/explain.ts'
import { hookOf, type RequestHook, type RequestStage } from './pipeline/request-stage.ts'
import { registerRoutes, type RouteOptions } from './pipeline/routes.ts'
import { findCached, sendCached } from './handlers/cached.ts'
import { createFastPath } from './handlers/fast-path.ts'
import { fromEngine } from './handlers/from-engine.ts'
import {
  checkAuthorization,
  checkFetchedTasks,
  checkItems,
  completeQuery,
  countItems,
  describeApi,
  executeOnce,
  type Handler,
  type HandlerStep,
  holdLongPoll,
  keepFormerRecord,
  nothingOf,
  preferDeployedNodes,
  reportItems,
  restrictItems,
  selectEntities,
  serveProfileOfCaller,
  shareCached,
  verifyPassword,
} from './handlers/handler-steps.ts'
import { findReplay } from './handlers/idempotent.ts'
import { createKnownTargets, type KnownTargets } from './handlers/known-targets.ts'
import { createOutgoingRequest, narrowedRequest } from './handlers/outgoing-request.ts'
import { isNeverForwarded, serveEngineNames } from './handlers/own-response.ts'
import { registerPassthrough } from './handlers/passthrough.ts'
import { createUpgradeFilter } from './handlers/web-sockets.ts'
import { deploysModels, redeploysModels } from './operations/deploys-models.ts'
import { isPagedList } from './operations/paged-list.ts'
import { refuse, selectFirst } from './handlers/selection/resolve-selectors.ts'
import { registerToolEndpoint } from './handlers/tool-endpoint-routes.ts'
import { serveAgain } from './handlers/serve-again.ts'
import {
  type CheckedContext,
  decide,
  type DecideRequest,
  locate,
  NOT_ENFORCED,
  type RequestPermission,
  PERMITTED_HERE,
  setPrincipal,
  setRequest,
  setRoute,
  type ReceivedRequest,
  checkedOf,
  decidedOf,
  locatedOf,
} from './pipeline/context.ts'
import type { Decision } from './policy/authz/checks/decision.ts'
import { withAllMissing } from './policy/authz/checks/decision-trace.ts'
import { chain, type MaybePromise } from './request/maybe-promise.ts'
import { otherFormOf } from './request/accept.ts'

/** The gateway of one configuration. */
export interface Gateway {
  readonly app: FastifyInstance
  /** Handles every request: on the fast path if its response is cached in this process, and otherwise in the framework. */
  readonly handle: RequestListener
  /** Handles WebSocket handshakes for applications. They pass the same stages. */
  readonly upgrades: Upgrades
}

/**
 * Builds the gateway. The stages have the numbers of docs/architecture.md, and a request passes them in the order in which they are
 * listed here. A refusal that a stage throws becomes the response.
 */
export function buildGateway(dependencies: Dependencies): Gateway {
  const { config } = dependencies
  // 1. Canonical: all later stages and the engine read the target in the same way.
  const app = createCanonicalApp(config)
  // 12. Observe: registered early, because it counts the start of a request, and records the refusals of all other stages.
  const observer = createObserver(dependencies)
  const handOvers: HandOvers = new WeakMap()
  observe(app, observer, handOvers)
  const cors = config.cors === null ? null : createCors(config.cors)
  const templates = createPathTemplates(dependencies.operations, config.basePath)
  const stages: Stages = {
    everywhere: [
      // 1. CORS, if it is configured. Pages of listed origins may then read responses, and preflights are answered before authentication.
      ...(cors === null ? [] : [shareResponses(cors)]),
      // 5. Load shedding: while the process is overloaded, every request is refused before any other work is done for it.
      shedLoad(dependencies),
    ],
    head: [
      findEngine(dependencies), // 2. engine
      authenticate(dependencies), // 3. authenticate
      findOperation(templates), // 4. operation
      admit(dependencies), // 5. admit
    ],
    body: [readBody(dependencies)], // 6. body
    decision: [
      permit(dependencies), // 7. permit
      checkLateRules(dependencies), // 8. late rules
    ],
  }
  const targets = createKnownTargets()
  registerStages(app, dependencies, {
    stages,
    templates,
    preflights: cors === null ? [] : [respondToPreflights(cors, templates)], // 1. canonical: preflights end here
    handlerOf: createHandlerOf(dependencies, targets), // 9. cache, 10. forward, 11. store or evict: HANDLER_STEPS
  })
  // Only these requests may upgrade their connection. All others are handled without `Upgrade`.
  const upgrading = new WeakSet<IncomingMessage>()
  registerPassthrough(app, dependencies, ({ raw }) => upgrading.has(raw))
  // Calls of tools come back here as requests to the API, and pass every stage.
  registerToolEndpoint(app, dependencies, (request, response) => handle(request, response))
  // 9. Cache: a target whose response was cached before passes the same stages without the framework.
  const handle = createFastPath({
    dependencies,
    observer,
    stages: [...stages.everywhere, ...stages.head, ...stages.body, ...stages.decision],
    targets,
    handOvers,
    route: (request, response) => app.routing(request, response),
  })
  return {
    app,
    handle,
    upgrades: {
      accepts: createUpgradeFilter(dependencies.applications),
      handle: (request, response) => {
        upgrading.add(request)
        app.routing(request, response)
      },
    },
  }
}

/** The stages up to the decision, by the time at which the framework runs them. */
interface Stages {
  /** Stages of all requests, also outside the API. */
  readonly everywhere: readonly RequestStage[]
  /** Stages that need only the head of a request. */
  readonly head: readonly RequestStage[]
  readonly body: readonly RequestStage[]
  readonly decision: readonly RequestStage[]
}

interface StageOptions extends Pick<RouteOptions, 'handlerOf'> {
  readonly stages: Stages
  readonly templates: PathTemplates
  readonly preflights: readonly RequestHook[]
}

function registerStages(
  app: FastifyInstance,
  { config }: Pick<Dependencies, 'config'>,
  { stages, templates, preflights, handlerOf }: StageOptions,
): FastifyInstance {
  let count = 0
  const nextHook = (stage: RequestStage): RequestHook => hookOf(stage, count++)
  app.setErrorHandler((error, request, reply) => {
    request.context.refusal = refusalOf(error)
    return sendRefusal(reply, request.context.refusal)
  })
  for (const stage of stages.everywhere) app.addHook('onRequest', nextHook(stage))
  app.register(
    async function api(scope) {
      for (const hook of preflights) scope.addHook('onRequest', hook)
      for (const stage of stages.head) scope.addHook('onRequest', nextHook(stage))
      for (const stage of stages.body) scope.addHook('preValidation', nextHook(stage))
      for (const stage of stages.decision) scope.addHook('preHandler', nextHook(stage))
      scope.addHook('preHandler', waitForTurn)
      scope.setNotFoundHandler(notFound)
      await registerRoutes(scope, {
        templates: templates.all,
        handlerOf,
        bodyBytes: ({ media }) => (media === 'multipart' ? config.limits.deploymentBody : config.limits.body),
      })
    },
    { prefix: config.basePath },
  )
  return app
}

/**
 * The steps of the handlers (stages 9 to 11), the outermost first. When the route of an operation is registered, its handler is
 * built from the steps that apply to the operation. Each step serves a request or passes it to the next step, and the last step sends
 * it to the engine.
 */
const HANDLER_STEPS: readonly HandlerStep[] = [
  // In these four steps, the gateway knows more about the caller than the engine does.
  describeApi,
  checkAuthorization,
  verifyPassword,
  serveProfileOfCaller,
  // Before the steps that read from the engine: a repetition gets the stored response without them.
  executeOnce,
  // Before the request is sent, because the engine then has another record.
  keepFormerRecord,
  // These two change the request, so they come before all steps that send it.
  selectEntities,
  preferDeployedNodes,
  // Changes the query, so it also comes before the steps that read lists.
  completeQuery,
  // These two read the items of a list, and restrict them themselves.
  countItems,
  checkItems,
  // Before all steps that send the request as it is or share its response. If the query itself cannot contain the restriction, this
  // step builds the response.
  restrictItems,
  holdLongPoll,
  // These two read a response before the caller gets it.
  reportItems,
  checkFetchedTasks,
  shareCached,
]

/** Builds the same stages for `explain`, up to the decision. Only lookups reach the engine, and nothing is counted, logged or limited. */
export const buildDryRun: BuildDryRun = (dependencies, contextOf) => {
  const { config, operations } = dependencies
  const app = createCanonicalApp(config)
  const templates = createPathTemplates(operations, config.basePath)
  app.decorateRequest('context')
  app.addHook('onRequest', function enter(request, _reply, done) {
    const context = contextOf(request.id)
    request.context = context
    // The question names the engine, so its path must not.
    const isNamed = namedTargetOf(request.originalUrl, config.basePath) !== null
    const operation = isNamed ? null : (request.routeOptions.config.operation ?? null)
    setRoute(context, { ...context, operation })
    done()
  })
  return registerStages(app, dependencies, {
    stages: {
      everywhere: [],
      head: [findOperation(templates)],
      body: [readBody(dependencies)],
      decision: [permit(dependencies), checkLateRules(dependencies)],
    },
    templates,
    preflights: [],
    handlerOf: () => (_request, reply) => reply.send(),
  })
}

// 2. Which engine? The engine that the path names, or the default engine.
function findEngine({ engines, config: { basePath } }: Dependencies): RequestStage {
  return function findEngineStage(request) {
    const { context } = request
    context.stage = 'authenticate'
    const named = namedTargetOf(request.originalUrl, basePath)
    // Read once: the framework creates `routeOptions` again for each access.
    const operation = request.routeOptions.config.operation ?? null
    const target = { engineName: named?.engine ?? DEFAULT_ENGINE, isEngineNamed: named !== null, operation }
    setRoute(context, { ...target, engine: engineOf(target, engines) })
  }
}

// 3. Is the caller authenticated? Only headers are read: no byte of a body is read for a refused caller. Strangers do not learn which engines exist.
function authenticate(dependencies: Dependencies): RequestStage {
  const { engines, metrics } = dependencies
  const principalOf = createPrincipalOf(dependencies)
  return function authenticateStage(request) {
    const { context } = request
    const { authenticator, name } = context.engine ?? fallbackOf(engines)
    if (!request.headers.authorization && isOpen(context)) {
      metrics.authentication({ engine: name, result: 'open', method: 'none' })
      return setPrincipal(context, ANONYMOUS)
    }
    const principal = principalOf(authenticator, request)
    if (principal instanceof Promise) context.isLogin = true
    return chain(principal, (caller) => setPrincipal(context, caller))
  }
}

// 4. Which operation? It must be in the table, and its engine must be configured. Any other path does not exist.
function findOperation({ methodsOf }: Pick<PathTemplates, 'methodsOf'>): RequestStage {
  return function findOperationStage(request) {
    const { context } = request
    context.stage = 'operation'
    const { engine, engineName, operation, principal } = context
    if (engine === null) throw unknownEngine(engineName)
    if (operation === null) throw noOperation(methodsOf(request.url))
    if (!isWellFormed(request)) throw notFound()
    requireOperation(operation, engine.release)
    if (principal === null) throw new Error('No stage has authenticated the caller')
    const permitted = engine.permits.get(operation.id)
    if (permitted === undefined) throw new Error('The operation has no permit')
    locate(context, { engine, operation, principal, permit: permitted })
    context.stage = 'body'
    checkMedia(operation, request.headers)
  }
}

// 5. Is there capacity? See pipeline/admit.ts, which also refuses every request before stage 2 while the process is overloaded. The body is
// accepted only from here on (pipeline/canonical-app.ts), up to the limit of its route (pipeline/routes.ts).
// 6. Is the body valid? Its bytes stay unchanged, and a strict parsed copy is checked. Hazards come first: they are refused whatever else
// is wrong.
function readBody(dependencies: Dependencies): RequestStage {
  return function readBodyStage(request) {
    const context = readRequest(dependencies, locatedOf(request), request)
    const { engine, operation, accessRequest, bytes } = context
    const content = enforce(dependencies, engine.validation, context, () => {
      checkHazards(operation, accessRequest, engine.accepted)
      checkHiddenConditions(context)
      checkSelection(operation, accessRequest.body)
      checkShape(operation, accessRequest, engine.isDateText)
      if (bytes === null || operation.media === undefined) return undefined
      return readMultipart(bytes, request.headers['content-type'] ?? '', accessRequest.checkDeadline)
    })
    return chain(content, (parts) =>
      parts === undefined ? undefined : checkParts(dependencies, context, parts),
    )
  }
}

/** Checks the parts of a multipart body, the scripts of its models, which have a mode of their own, and their namespaces. */
function checkParts(
  dependencies: Dependencies,
  context: CheckedContext,
  parts: MultipartContent,
): MaybePromise<void> {
  const { engine, operation, accessRequest } = context
  const { checkDeadline } = accessRequest
  context.partNames = parts.names
  const checked = enforce(dependencies, engine.validation, context, () =>
    checkMultipart(parts, engine.accepted.allowedHazards, checkDeadline),
  )
  if (!deploysModels(operation)) return checked
  const scriptless = chain(checked, () =>
    enforce(dependencies, engine.scripts, context, () => checkScripts(parts.models, checkDeadline)),
  )
  return chain(scriptless, () =>
    enforce(dependencies, engine.validation, context, () =>
      checkNamespaces(parts.models, engine.groupFamilies(), checkDeadline),
    ),
  )
}

// 7. Is the request permitted? This is decided after the shape is known, because permission depends on the body, and before any cache,
// because a cache hit must not widen access. A request that waits is decided again: pipeline/decide-again.ts, docs/waiting-decisions.md.
function permit(dependencies: Dependencies): RequestStage {
  return function permitStage(request) {
    const context = checkedOf(request)
    context.stage = 'permit'
    return chain(decideRequest(dependencies, context, request), () => undefined)
  }
}

/** Decides a request (stage 7). The handlers call it again for a request that has waited. */
const decideRequest: DecideRequest = (dependencies, context, request) => {
  // The ceiling of a client applies in every mode, also to administrators, and before the engine is asked anything.
  requireCeiling(dependencies, context)
  const recordsVersion = context.engine.recordsVersion()
  // An engine without authentication does not know the caller. The query that names the caller is the one that is checked and sent.
  replaceCallerExpressions(context)
  return chain(permissionFor(dependencies, context, request), (permission) => {
    decide(context, recordsVersion, permission)
    return context
  })
}

function permissionFor(
  dependencies: Dependencies,
  context: CheckedContext,
  request: ReceivedRequest,
): MaybePromise<RequestPermission> {
  const { engine, operation } = context
  const { authorization } = engine
  if (isOpen(context)) return authorization === 'enforce' ? PERMITTED_HERE : NOT_ENFORCED
  if (authorization === 'off' || (authorization === 'engine' && operation.cache === undefined))
    return NOT_ENFORCED
  const permission = enforce(dependencies, authorization, context, () =>
    select(dependencies, context, request),
  )
  return chain(permission, (found) => found ?? NOT_ENFORCED)
}

/** Replaces the queries in the body with ids if each selected id is checked. The checked ids are then the ids that are sent. */
function select(
  dependencies: Dependencies,
  context: CheckedContext,
  request: ReceivedRequest,
): MaybePromise<RequestPermission> {
  return (
    selectFirst(dependencies, context, request)?.then((selected) => {
      setRequest(context, { ...selected, search: context.search })
      return check(dependencies, context, request)
    }) ?? check(dependencies, context, request)
  )
}

/** Runs the checks of the operation. */
function check(
  dependencies: Dependencies,
  context: CheckedContext,
  request: ReceivedRequest,
): MaybePromise<RequestPermission> {
  const { engine, accessRequest, permit: permitted } = context
  const grounds = collectGrounds(dependencies, context)
  const decision =
    engine.authorization === 'report'
      ? withAllMissing((trace) => permitted.authorize(accessRequest, trace ?? grounds?.with(undefined)))
      : permitted.authorize(accessRequest, traceOf(grounds, rulesBetween(dependencies, context)))
  return chain(decision, (said) => {
    grounds?.keep(said)
    return conclude(dependencies, said, context, request)
  })
}

/** Determines which items of the response the caller may see. */
function conclude(
  dependencies: Dependencies,
  decision: Decision,
  context: CheckedContext,
  request: ReceivedRequest,
): MaybePromise<RequestPermission> {
  const { accessRequest, permit: permitted } = context
  if (!decision.permitted) {
    if (decision.refusal.statusCode === 200) checkPageOfNothing(dependencies, context)
    // The entity may be missing because the same request was executed before. The client that repeats it gets its outcome.
    const replay = decision.isNotFound === true ? findReplay(dependencies, context, request) : null
    if (replay === null) return refuse(dependencies, decision, context, request)
    return replay.then((found) =>
      found === null ? refuse(dependencies, decision, context, request) : { ...NOT_ENFORCED, replay: found },
    )
  }
  const listDecision = permitted.decideList?.(
    accessRequest,
    otherFormOf(permitted.operation, request.headers.accept),
  )
  return chain(listDecision, (said) => permissionOf(context, said))
}

// 8. Rules that the engine checks only after permission, and the number of items that a list may have.
function checkLateRules(dependencies: Dependencies): RequestStage {
  return function checkLateRulesStage(request) {
    const context = decidedOf(request)
    context.stage = 'rules'
    const { engine, operation, accessRequest } = context
    void enforce(dependencies, engine.validation, context, () =>
      checkRules(operation, accessRequest, { isDateText: engine.isDateText }),
    )
    checkMaxResults(dependencies, context)
    const checked = redeploysModels(operation)
      ? checkRedeployment(dependencies, context, request)
      : checkStoredQueries(dependencies, context)
    return chain(checked, () => {
      context.stage = 'forward'
    })
  }
}

/**
 * Requests that are read in one turn of the event loop are answered together in the next turn. Writing after every read doubles the CPU
 * time of cached responses. Requests to a node are not delayed here: undici waits for the same turn itself, because it checks a
 * keep-alive connection before it writes.
 */
const waitForTurn: RequestHook = (request, _reply, done) => {
  if (decidedOf(request).operation.cache === undefined) done()
  else setImmediate(done)
}

/** An engine checks the number of items of a list before it determines that the caller may see none. */
function checkPageOfNothing(dependencies: Dependencies, context: CheckedContext): void {
  const { engine, stage } = context
  if (engine.authorization !== 'enforce') return
  context.stage = 'rules'
  checkMaxResults(dependencies, context)
  context.stage = stage
}

function checkMaxResults(dependencies: Dependencies, context: CheckedContext): void {
  const { engine, operation, accessRequest } = context
  const { maxResults } = engine
  if (maxResults === null || !isPagedList(operation)) return
  void enforce(dependencies, maxResults.mode, context, () => {
    const refusal = maxResults.refusalOf(accessRequest.principal, accessRequest.query)
    if (refusal !== null) throw refusal.withDenialReason({ rule: refusal.reason, missing: [] })
  })
}

// 9 to 11. The handler of an operation: the cache in the memory of this process, and then the steps that apply to the operation.
function createHandlerOf(
  dependencies: Dependencies,
  targets: Pick<KnownTargets, 'remember'>,
): RouteOptions['handlerOf'] {
  const decisionMaker = { dependencies, decide: decideRequest }
  return function handlerOf(operation) {
    if (isNeverForwarded(operation)) return (_request, reply) => serveEngineNames(dependencies, reply)
    const nothing = nothingOf(operation)
    const outgoingRequest = createOutgoingRequest(dependencies, operation)
    // 10. Forward, and 11. store or evict: handlers/from-engine.ts.
    const handle = HANDLER_STEPS.filter((step) => step.appliesTo(operation)).reduceRight<Handler>(
      (next, step) => step.create(operation, next),
      fromEngine(operation),
    )
    function serveDecided(request: FastifyRequest, reply: FastifyReply): ReturnType<Handler> {
      const context = decidedOf(request)
      // 9. Is the response cached? Shared entries contain only data that every permitted caller may see. A response that only Redis has
      // is read by the step `shareCached`.
      const hit = findCached(dependencies, context, request)
      if (hit !== null) {
        targets.remember(request)
        return sendCached(hit, request, reply)
      }
      const asked = outgoingRequest(context, request)
      const upstreamRequest = narrowedRequest(context, asked)
      return upstreamRequest === null
        ? nothing({ dependencies, decisionMaker, context, upstreamRequest: asked, request, reply })
        : handle({ dependencies, decisionMaker, context, upstreamRequest, request, reply })
    }
    return function serve(request, reply) {
      const served = serveDecided(request, reply)
      return served instanceof Promise
        ? served.catch((error: unknown) => serveAgain(error, { decisionMaker, request, reply, serveDecided }))
        : served
    }
  }
}
