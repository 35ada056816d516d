import { QUERY_CHARS } from '../policy/authz/entities/lookup-lists.ts'

/*
 * Every limit and threshold of restricted lists, with its unit and its reason. `limits.filteredRows` and `limits.rowParts` of the
 * configuration limit a request as a whole. docs/decisions/0011-row-plans.md has the measurements of `npm run test:scale`.
 */

// Limits of engines, databases and servers.

/** Characters of a list of ids in a query string. Two such lists fit into a request line. */
export const MAX_LIST_CHARS = QUERY_CHARS / 2
/** Values in one condition. Databases accept at most 1,000 (Oracle) or 2,100 (SQL Server). */
export const MAX_CONDITION_VALUES = 1000

// Requests for one response.

/**
 * Simultaneous requests to the engine for one response. If a plan has more subqueries than this, a page or a count may first be
 * tried with one read of the list.
 */
export const MAX_PARALLEL_READS = 4
/** Simultaneous lookups of entities that items of the operation log name. */
export const MAX_PARALLEL_LOOKUPS = 8
/** Activities of a definition, groups, or tasks that are read one by one for one response. Each needs a request. */
export const MAX_SINGLE_READS = 200
/** Definitions of a report that are counted one by one. Each needs a request. */
export const MAX_REPORT_DEFINITIONS = 50
/** Ids for a list that takes only one id. Each id needs its own request. */
export const MAX_SINGLE_IDS = 1000
/** Ids that one query may select. */
export const MAX_SELECTED_IDS = 100_000
/** Definition keys of a plan: lists of them, or a subquery for each. `limits.rowParts` limits the subqueries. */
export const MAX_PLAN_KEYS = 2000
/** Items that are read rather than counted or searched for: of a short list, before a page, or of short subqueries together. */
export const FEW_ITEMS = 500

// Items of one read.

/** Items of the first read of a list. They show which share of the list is visible. A list of definitions is not read further. */
export const FIRST_READ_ITEMS = 100
/**
 * Items of a read that searches for something: the end of a list, the start of a page, deleted definitions, topics. Also the items
 * before a page that are read rather than counted, and those that are parsed and decided together: more would keep all objects of a
 * long body in memory.
 */
export const STEP_ITEMS = 1000
/** Items of one read, which take one or a few kilobytes each, and of several reads from the start of a list. */
export const MAX_READ_ITEMS = 5000
/** Bytes of one read, estimated from the items that were read before. */
export const READ_BYTES = 8 * 1024 ** 2
/** Items of one read of a subquery, at least. Also the items of a further read that are read in addition, because items change or are clustered. */
export const MIN_READ_ITEMS = 20
/** Share by which an estimated number of items may be wrong. */
export const SPARE_SHARE = 0.1

// Searching for a page near the start of a list before its subqueries are sent.

/** Reading this many items costs about as much as one subquery. */
export const ITEMS_PER_SUBQUERY = 150
/**
 * Milliseconds that an engine takes for the items of one instance, which it finds without sorting the list. Several such
 * subqueries run at the same time. A first page that takes longer per instance means that the list is sorted for it.
 */
export const INSTANCE_READ_MS = 2
/** Reads of one page. An engine may sort the whole list for each of them. */
export const MAX_TOP_READS = 3

// Lists that other clients change between two reads.

/** Items before the last position that are read again at most, and ids that are remembered for this. */
export const MAX_BACK_ITEMS = 4000

// Merging subqueries.

/** Items of all subqueries in memory, and of one read of a subquery. */
export const MAX_HELD_ITEMS = 4000
/** Mean bytes of an item. If items are longer, fewer of them are read at once. The previous page gives the estimate. */
export const ITEM_BYTES = 2048
/** Items of each subquery before a page that are read rather than counted. */
export const SKIPPED_ITEMS_PER_SUBQUERY = 50

// Searching for the start of a page, or for the end of a list.

/** Factor by which the distance to the next read grows. The number of reads grows with the logarithm of the length. */
export const SEARCH_STEP_FACTOR = 8
/** Attempts to find the start of a page from the sizes of the subqueries. */
export const MAX_SEEK_ROUNDS = 4
/** Standard deviations, of items that are spread at random, between the expected start of a page and the first read. */
export const SEEK_DEVIATIONS = 4
/** Items before the expected start of a page in addition to the standard deviations. */
export const SEEK_SPARE_ITEMS = 5
/** Places of items of all subqueries in memory. A place takes some hundred bytes. */
export const MAX_PLACES = 80_000
/** A subquery is also read if its places in memory are at most the items of one read divided by this number. */
export const REFILL_DIVISOR = 20
/** Items before the start of a page that are read again, because some items may have been removed meanwhile. */
export const REREAD_ITEMS = 5

// Items that every caller sees because they lack a member.

/** Items of the first read. Usually there are fewer. A database may sort the whole list for each read, so a few more items cost little. */
export const FIRST_NULL_GROUP_ITEMS = 200
/** Factor between the first read and the second. */
export const NULL_GROUP_READ_FACTOR = 10

// Observations about an engine, and how long they are used.

/**
 * Milliseconds: whether a list is long, how long its first page takes, which definitions are deleted, and where the database puts
 * items without a value.
 */
export const OBSERVATION_MS = 60_000
/** Milliseconds: the size of a subquery, which predicts where a page begins. */
export const SIZE_MS = 30_000
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
