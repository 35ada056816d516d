import type { Operation } from './table.ts'

/** Returns whether the engine runs the models that the body of an operation contains. Other uploads only store a file. */
export function deploysModels({ media, template }: Pick<Operation, 'media' | 'template'>): boolean {
  return media === 'multipart' && template.startsWith('/deployment/')
}

/** Returns whether the engine deploys resources of the deployment that the path names. The request does not contain them. */
export function redeploysModels({ template }: Pick<Operation, 'template'>): boolean {
  return template.startsWith('/deployment/') && template.endsWith('/redeploy')
}
