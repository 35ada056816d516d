/** Returns the path of a published operation as the table writes it: `/user-operation/{operation-id}` becomes `/user-operation/:operationId`. */
export function templateOf(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => `:${camelCase(name)}`)
}

function camelCase(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
