import type { Variable } from './data.ts'
import { RestError } from './http.ts'
import type { FormField } from './models.ts'
import { variableOf } from './variables.ts'

const variableTypes = { string: 'String', long: 'Long', boolean: 'Boolean' } as const

/** Returns the form that the engine renders for a process that only lists its form fields. */
export function renderForm(fields: readonly FormField[]): string {
  return `<form name="generatedForm" role="form">\n${fields.map(renderField).join('')}</form>\n`
}

function renderField(field: FormField): string {
  return `  <div class="form-group">
    <label for="${field.id}">
      ${field.label}
    </label>
    <input ${attributesOf(field)} />
    <div ng-if="this.generatedForm.${field.id}.$invalid && this.generatedForm.${field.id}.$dirty" class="has-error">
      <div ng-show="this.generatedForm.${field.id}.$error.required" class="help-block">
        Required field
      </div>
      <div ng-show="this.generatedForm.${field.id}.$error.camVariableType" class="help-block">
        Only a ${field.type} value is allowed
      </div>
    </div>
  </div>
`
}

function attributesOf({ id, type, initial, min }: FormField): string {
  const attributes = [
    'class="form-control"',
    `name="${id}"`,
    `cam-variable-type="${variableTypes[type]}"`,
    `cam-variable-name="${id}"`,
    ...(min === null ? [] : [`min="${min}"`]),
    `type="${type === 'boolean' ? 'checkbox' : 'text'}"`,
    ...(initial === null ? [] : [`value="${initial}"`]),
  ]
  return attributes.join(' ')
}

/** Returns the variables after a form was submitted: the given ones, and the initial values of absent fields. */
export function submittedOf(
  fields: readonly FormField[],
  given: ReadonlyMap<string, Variable>,
  doing: string,
): Map<string, Variable> {
  const variables = new Map(given)
  for (const field of fields) {
    if (!variables.has(field.id)) variables.set(field.id, initialOf(field))
    const value = variables.get(field.id)?.value
    if (field.min === null || Number(value) >= field.min) continue
    const why = `Invalid value submitted for form field '${field.id}': validation of min(${field.min}) failed.`
    throw new RestError(500, 'RestException', `${doing}: ${why}`, 0)
  }
  return variables
}

function initialOf({ type, initial }: FormField): Variable {
  const value = type === 'boolean' ? initial === 'true' : initial
  return variableOf({ value, type: variableTypes[type] }, '')
}
