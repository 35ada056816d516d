import type { CachedContent } from '../operations/cached-content.ts'
import type { BufferedResponse } from '../request/buffered-response.ts'
import { isObject, jsonValueOf } from '../request/value.ts'

/**
 * Returns true if a response has this content. An error page with the status 200 does not have it. If such a page were stored, it
 * would still be served after the error has ended.
 */
export function hasContent(
  { headers, body }: Pick<BufferedResponse, 'headers' | 'body'>,
  content: CachedContent,
): boolean {
  const [type = ''] = String(headers['content-type'] ?? '').split(';')
  const mediaType = type.trim().toLowerCase()
  if (content === 'diagram') return isImage(mediaType)
  if (!isJson(mediaType)) return false
  const value = jsonValueOf(body)
  if (content === 'names') return Array.isArray(value) && value.every((name) => typeof name === 'string')
  return isObject(value) && ['bpmn20Xml', 'dmnXml'].some((name) => typeof value[name] === 'string')
}

/** The engine derives the media type of an image from the suffix of its file. For an unknown suffix it sends `application/octet-stream`. */
function isImage(mediaType: string): boolean {
  return mediaType.startsWith('image/') || mediaType === 'application/octet-stream'
}

function isJson(mediaType: string): boolean {
  return mediaType === 'application/json' || mediaType.endsWith('+json')
}
