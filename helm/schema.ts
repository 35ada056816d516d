import { readFileSync, writeFileSync } from 'node:fs'
import { configJsonSchema } from '../src/config/config.ts'
import { isMapping } from '../src/config/mapping.ts'

const FILE = new URL('engine-gateway/values.schema.json', import.meta.url)

/** The member that the chart itself sets if users or records come from a file. */
const FILLED_IN = 'file'

/** Returns the schema of the chart. It contains the schema of the configuration, so that Helm refuses a mistake in `config` before it renders anything. */
export function valuesSchema(): unknown {
  const values: unknown = JSON.parse(readFileSync(FILE, 'utf8'))
  if (!isMapping(values) || !isMapping(values['properties'])) throw new Error('values.schema.json has no properties')
  return { ...values, properties: { ...values['properties'], config: chartConfigSchema() } }
}

function chartConfigSchema(): unknown {
  const schema = withoutFilledIn(configJsonSchema('draft-7'))
  if (!isMapping(schema)) throw new Error('the configuration has no schema')
  const { $schema: _, properties, ...rest } = schema
  if (!isMapping(properties) || !isMapping(properties['engines'])) throw new Error('the configuration has no engines')
  return { ...rest, properties: { ...properties, engines: withNull(properties['engines']) } }
}

/** Returns the schema of engines. Each engine may also be null: Helm then removes an engine that another file of values has added. */
function withNull(engines: Readonly<Record<string, unknown>>): unknown {
  const engine = engines['additionalProperties']
  if (!isMapping(engine)) throw new Error('the engines have no schema')
  return { ...engines, additionalProperties: { ...engine, type: ['object', 'null'] } }
}

function withoutFilledIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutFilledIn)
  if (!isMapping(value)) return value
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutFilledIn(one)]))
  const { required } = copy
  return Array.isArray(required) ? { ...copy, required: required.filter((name) => name !== FILLED_IN) } : copy
}

if (import.meta.main) writeFileSync(FILE, `${JSON.stringify(valuesSchema(), null, 2)}\n`)
