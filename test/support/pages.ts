const ALL = Number.MAX_SAFE_INTEGER

/**
 * Query strings with the page that Camunda 7.22 on H2 returns. For -1 it returns an empty list. Null means an error:
 * 404 for a value that is not a number, 500 from the database for a number below -1.
 */
export const PAGES = [
  ['', { first: 0, max: ALL }],
  ['maxResults=&firstResult=', { first: 0, max: ALL }],
  ['maxResults=2&firstResult=1', { first: 1, max: 2 }],
  ['maxResults=%2B1', { first: 0, max: 1 }],
  ['maxResults=007', { first: 0, max: 7 }],
  ['maxResults=%D9%A1%D9%A2', { first: 0, max: 12 }],
  ['maxResults=%EF%BC%99', { first: 0, max: 9 }],
  ['maxResults=2147483647', { first: 0, max: 2_147_483_647 }],
  ['maxResults=-1', { first: 0, max: 0 }],
  ['firstResult=-1&maxResults=5', { first: 0, max: 0 }],
  ['firstResult=1&maxResults=-1', { first: 0, max: 0 }],
  ['firstResult=-5', null],
  ['maxResults=-5&firstResult=1', null],
  ['maxResults=2147483648', null],
  ['maxResults=abc', null],
  ['maxResults=%201', null],
  ['maxResults=1.0', null],
  ['maxResults=%2B', null],
  ['maxResults=%F0%9D%9F%8F', null],
] as const
