/** Returns the base path of a URL, `/app` for `http://web:8080/app/`, or an empty string if the URL has none. */
export function basePathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '')
}
