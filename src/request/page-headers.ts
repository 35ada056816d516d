import { hash } from 'node:crypto'

/** Returns the headers of a page that contains only this script and this style, and loads nothing else. */
export function pageHeaders({ script, style }: { readonly script?: string; readonly style: string }) {
  const policy = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src '${sourceOf(script)}'`]),
    `style-src '${sourceOf(style)}'`,
    // Allows the empty icon. Without an icon, browsers request one.
    'img-src data:',
    ...(script === undefined ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
  }
}

function sourceOf(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`
}
