/**
 * Options of the framework for an application in which no route has a schema. The framework would otherwise load its compilers of
 * schemas at the start.
 */
export const NO_SCHEMAS = {
  schemaController: {
    compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler },
  },
} as const

function noCompiler(): never {
  throw new Error('This application has no compiler of schemas')
}
