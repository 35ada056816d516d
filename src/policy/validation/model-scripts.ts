import { operatorText } from '../../errors.ts'
import { hazard } from './hazards.ts'
import { readElements, type XmlAttributes } from './model-elements.ts'
import { decodeModel } from './model-text.ts'

/** Elements that contain a script, or name the file of one. */
const SCRIPTS: ReadonlySet<string> = new Set(['scriptTask', 'script'])
/** Conditions of sequence flows and events. With `language` they are scripts, otherwise expressions. */
const CONDITIONS: ReadonlySet<string> = new Set(['conditionExpression', 'condition'])
/** Elements of decisions that name a language, besides the root element, whose language is the default of a decision model. */
const DECISIONS: ReadonlySet<string> = new Set([
  'inputExpression',
  'inputEntry',
  'outputEntry',
  'literalExpression',
])
/** Languages of decisions that are no scripts: JUEL, and FEEL by its name or by an address of its versions. */
const EXPRESSION_LANGUAGE =
  /^(?:juel|feel|feel-scala(?:-unary-tests)?|https?:\/\/www\.omg\.org\/spec\/[\d/DMN]*FEEL\/[\d/]*)$/i

/** The name of the first element of a model that contains a script. `none`: no element does. `unknown`: the model cannot be read. */
export type FoundScript = { readonly element: string } | 'none' | 'unknown'

/**
 * Searches a model for scripts, which the engine runs with all rights of its process.
 * @throws any error that `checkDeadline` throws
 */
export async function findScript(model: Buffer, checkDeadline?: () => void): Promise<FoundScript> {
  const xml = decodeModel(model)
  if (xml === null) return 'unknown'
  let found: FoundScript = 'none'
  const isRead = await readElements(
    xml,
    (path, attributes) => {
      if (found === 'none' && isScript(path, attributes)) found = { element: path.at(-1) ?? '' }
    },
    { checkDeadline },
  )
  return isRead || found !== 'none' ? found : 'unknown'
}

function isScript(path: readonly string[], attributes: XmlAttributes): boolean {
  const element = path.at(-1) ?? ''
  if (SCRIPTS.has(element)) return true
  if (CONDITIONS.has(element)) return attributes['language'] !== undefined
  const { expressionLanguage: language = 'feel' } = attributes
  const isDecision = path.length === 1 ? isDecisionModel(attributes) : DECISIONS.has(element)
  return isDecision && !EXPRESSION_LANGUAGE.test(language)
}

/** Returns whether a root element declares the namespace of decision models. The roots of other models have the same name. */
function isDecisionModel(attributes: XmlAttributes): boolean {
  return Object.values(attributes).some((value) => value.includes('/spec/DMN/'))
}

/**
 * Checks that no model contains a script. A model that cannot be read may contain one.
 * @throws GatewayError GW_HAZARD that names the element; any error that `checkDeadline` throws
 */
export async function checkScripts(
  models: readonly Buffer[],
  checkDeadline: (() => void) | undefined,
): Promise<void> {
  for (const model of models) {
    const found = await findScript(model, checkDeadline)
    if (found === 'unknown') throw hazard('scripts', operatorText`a model cannot be read`)
    if (found !== 'none')
      throw hazard('scripts', {
        caller: `a model contains the element ${found.element}`,
        operator: operatorText`a model contains a script`,
      })
  }
}
