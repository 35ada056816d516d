import { QUERY_CHARS } from '../policy/authz/entities/lookup-lists.ts'

/*
 * Every limit and threshold of restricted lists, with its unit and its reason. docs/decisions/0011-list-plans.md has the measurements
 * of `npm run test:scale`.
 */

/** The limits of one request that operators set. The section `limits` of the configuration has members of the same names. */
export interface ListLimits {
  readonly scannedItems: number
  readonly subqueries: number
}

// Limits of engines, databases and servers.

/** Characters of a list of ids in a query string. Two such lists fit into a request line. */
export const MAX_LIST_CHARS = QUERY_CHARS / 2
/** Values in one condition. Databases accept at most 1,000 (Oracle) or 2,100 (SQL Server). */
export const MAX_CONDITION_VALUES = 1000

// Requests for one response.

/**
 * Simultaneous requests to the engine for one response, besides the one or two for its null group. If a plan has more subqueries than this, a page or a count may first be
 * tried with one read of the list.
 */
export const MAX_PARALLEL_READS = 4
/** Plans for one response: from remembered facts, and again from those that were read in the meantime. */
export const MAX_PLANS = 2
/** Requests for one response that each read or count one object: an activity of a definition, a group, a task, a definition of a report. */
export const MAX_SINGLE_READS = 200
/**
 * Subqueries for single instances that count as one other subquery. The engine finds the items of one instance by an index, without
 * reading or sorting the list.
 */
export const INSTANCES_A_PART = 5
/** Tenants of running variables that a search finds. The engine sorts its variables for each of them. */
export const MAX_TENANTS = 20
/** Ids for a list that takes only one id. Each id needs its own request. */
export const MAX_SINGLE_IDS = 1000
/** Ids that one query may select. Also the items of a list whose positions are in memory. Each takes some hundred bytes. */
export const MAX_IDS = 100_000

/** Ids of tasks that a query of tasks names besides definitions. If a caller has more of them, the list is filtered. */
export const MAX_TASK_IDS = 5000

// Items of one read.

/**
 * Items of the first read of a list, which costs about as much as one subquery. They show which share of the list is visible. Lists
 * of case definitions are not read further.
 */
export const FIRST_READ_ITEMS = 100
/** The largest number of items that are read instead of counted: in a short list, before a page, or in several short subqueries. */
export const FEW_ITEMS = MAX_PARALLEL_READS * FIRST_READ_ITEMS
/** Factor between two reads that search for the end of a list. The number of reads grows with the logarithm of its length. */
export const READ_GROWTH = 10
/**
 * Items of a read that searches for something: the end of a list, the start of a page, deleted definitions, topics. Also the items
 * before a page that are read rather than counted, and those that are parsed and decided together: more would keep all objects of a
 * long body in memory.
 */
export const STEP_ITEMS = READ_GROWTH * FIRST_READ_ITEMS
/**
 * Items of one read, which take one or a few kilobytes each, items of all subqueries in memory, and definitions of a plan. Also the
 * ids that are remembered to continue a list that other clients change.
 */
export const MAX_READ_ITEMS = 5000
/** Bytes of one read, estimated from the items that were read before. */
export const READ_BYTES = 8 * 1024 ** 2
/**
 * Items of one read of a subquery, at least. A further read also has as many items more than expected, or begins as many earlier,
 * because items are clustered, or others are added or removed meanwhile.
 */
export const MIN_READ_ITEMS = 20
/** Share by which an estimated number of items may be wrong. */
export const SPARE_SHARE = 0.1

// Searching for a page.

/** Attempts to find a page near the start of a list, or from the sizes of subqueries. An engine may sort the whole list for each read. */
export const MAX_SEARCH_READS = 4
/**
 * Milliseconds that an engine takes for the items of one instance, which it finds without sorting the list. Several such
 * subqueries run at the same time. A first page that takes longer per instance means that the list is sorted for it.
 */
export const INSTANCE_READ_MS = 2
/** Standard deviations, of items that are spread at random, between the expected start of a page and the first read. */
export const SEEK_DEVIATIONS = 4

// Observations about an engine, and how long they are used.

/**
 * Milliseconds for most observations: whether a list is long, the time of its first page, the size of a subquery, the deleted
 * definitions, and the position of items without a value.
 */
export const OBSERVATION_MS = 60_000
/** Factor for observations that change slowly, and for a result that is used while a search runs again. */
export const SLOW_CHANGE_FACTOR = 10
/**
 * Milliseconds: whether the items of a list are unevenly distributed over its subqueries. Also the ids of instances, however often
 * they have been confirmed.
 */
export const SLOW_CHANGE_MS = SLOW_CHANGE_FACTOR * OBSERVATION_MS
/** Characters of all stored queries of one engine together. */
export const MAX_STORED_CHARS = 1024 ** 2
/** Milliseconds: whether there are cases. A case definition that is deployed in the meantime is noticed this much later. */
export const CASES_MS = 2000
/**
 * Share of time that is spent on the search for deleted definitions. An engine with a long history needs seconds to sort it, and
 * must not do so all the time.
 */
export const DELETED_SHARE = 1 / 20
/** Milliseconds by which an instance may become visible after its start time, because its transaction must end first. */
export const LATE_INSTANCE_MS = 60_000
