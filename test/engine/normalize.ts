/**
 * Masks ids, times, hosts and the named members in the body of a response, so that two responses can be compared. A
 * body that is not JSON is unchanged.
 */
export function normalize(body: unknown, volatile: readonly string[] = []): unknown {
  if (Buffer.isBuffer(body)) return body
  return mask(body, '', volatile)
}

const masks = [
  [/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '<id>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+([+-]\d{4}|Z)/g, '<time>'],
  [/^https?:\/\/[^/]+/, '<origin>'],
] as const

function mask(value: unknown, member: string, volatile: readonly string[]): unknown {
  if (volatile.includes(member)) return '<volatile>'
  if (typeof value === 'string') return maskText(value, member)
  if (Array.isArray(value)) return value.map((one) => mask(one, member, volatile))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mask(one, name, volatile)]))
}

function maskText(text: string, member: string): string {
  let masked = text
  for (const [pattern, replacement] of masks) masked = masked.replace(pattern, replacement)
  // Engines outside the Spring starter use consecutive ids: `107`, and `review:1:42` for a definition.
  return /^(id|href)$|Ids?$/.test(member) ? masked.replace(/(^|[:/])\d+$/, '$1<id>') : masked
}
