import { QUERY_CHARS } from '../policy/authz/entities/lookup-lists.ts'

/*
 * Every limit and threshold of restricted lists, with its unit and its reason. `limits.filteredRows` and `limits.rowParts` of the
 * configuration limit a request as a whole. docs/decisions/0011-row-plans.md has the measurements of `npm run test:scale`.
 */

// Limits of engines, databases and servers.

/** Characters of a query string. Servers accept request lines of 8 KB. */
export const MAX_QUERY_CHARS = QUERY_CHARS
/** Characters of a list of ids in a query string. Two such lists fit into a request line. */
export const MAX_LIST_CHARS = 3000
/** Values in one condition. Databases accept at most 1,000 (Oracle) or 2,100 (SQL Server). */
export const MAX_CONDITION_VALUES = 1000
/** Definition keys in one query string. */
export const MAX_QUERY_KEYS = 50

// Requests for one response.

/** Simultaneous requests to the engine for one response. */
export const MAX_PARALLEL_READS = 4
/** Simultaneous lookups of entities that items of the operation log name. */
export const MAX_PARALLEL_LOOKUPS = 8
/** Activities of a definition, groups, or tasks that are read one by one for one response. Each needs a request. */
export const MAX_SINGLE_READS = 200
/** Definitions of a report that are counted one by one. Each needs a request. */
export const MAX_REPORT_DEFINITIONS = 50
/** Case definitions whose keys are read. A query can select the tasks of one key only. */
export const MAX_CASE_DEFINITIONS = 100
/** Definition keys of a plan: lists of them, or a subquery for each. `limits.rowParts` limits the subqueries. */
export const MAX_PLAN_KEYS = 2000
/** If a plan has more subqueries than this, a page or a count may first be tried with one read of the list. */
export const FEW_SUBQUERIES = 4
/** Items that are read rather than counted or searched for: of a short list, before a page, or of short subqueries together. */
export const FEW_ITEMS = 500

// Reading a list from its start.

/** Items of the first read. They show which share of the list is visible. */
export const FIRST_READ_ITEMS = 100
/** Items of one read. An item takes one or a few kilobytes. */
export const MAX_READ_ITEMS = 5000
/** Bytes of one read, estimated from the items that were read before. Half of the limit for the response of a lookup. */
export const READ_BYTES = 8 * 1024 ** 2
/** Items that are parsed and decided together. More would keep all objects of a long body in memory. */
export const PARSED_ITEMS = 1000

// Searching for a page near the start of a list before its subqueries are sent.

/** Items that are read in total, however few subqueries the plan has. */
export const MIN_TOP_ITEMS = 1000
/** Items that are read in total, however many subqueries the plan has. */
export const MAX_TOP_ITEMS = 5000
/** Reading this many items costs about as much as one subquery. */
export const ITEMS_PER_SUBQUERY = 150
/**
 * Milliseconds that an engine takes for the items of one instance, which it finds without sorting the list. Several such
 * subqueries run at the same time. A first page that takes longer per instance means that the list is sorted for it.
 */
export const INSTANCE_READ_MS = 2
/** Reads of one page. An engine may sort the whole list for each of them. */
export const MAX_TOP_READS = 3
/** Items of a further read in addition to the expected number. Visible items may be clustered. */
export const SPARE_TOP_ITEMS = 20
/** Factor of the expected number of items of a further read. Visible items may be clustered. */
export const SPARE_TOP_FACTOR = 1.1

// Lists that other clients change between two reads.

/** Items before the last position that are read again first if the list has changed. Each further read goes back twice as far. */
export const MIN_BACK_ITEMS = 20
/** Items before the last position that are read again at most, and ids that are remembered for this. */
export const MAX_BACK_ITEMS = 4000

// Merging subqueries.

/** Items of one read of a subquery, at least. */
export const MIN_SUBQUERY_READ_ITEMS = 20
/** Items of all subqueries in memory, and of one read of a subquery. */
export const MAX_HELD_ITEMS = 4000
/** Mean bytes of an item. If items are longer, fewer of them are read at once. The previous page gives the estimate. */
export const ITEM_BYTES = 2048
/** Items of each subquery before a page that are read rather than counted. */
export const SKIPPED_ITEMS_PER_SUBQUERY = 50
/** Items of all subqueries before a page that are read rather than counted. */
export const MAX_SKIPPED_ITEMS = 1000

// Searching for the start of a page, or for the end of a list.

/** Items of one read of a subquery during the search. */
export const SEARCH_READ_ITEMS = 1000
/** Factor by which the distance to the next read grows. The number of reads grows with the logarithm of the length. */
export const SEARCH_STEP_FACTOR = 8
/** Share of the estimated length at which the search begins. Most subqueries have a few more items. */
export const LIKELY_END_SHARE = 0.9
/** Attempts to find the start of a page from the sizes of the subqueries. */
export const MAX_SEEK_ROUNDS = 4
/** Standard deviations, of items that are spread at random, between the expected start of a page and the first read. */
export const SEEK_DEVIATIONS = 4
/** Items before the expected start of a page in addition to the standard deviations. */
export const SEEK_SPARE_ITEMS = 5
/** A subquery is short if its size is at most the mean size divided by this number. */
export const SHORT_SUBQUERY_DIVISOR = 4
/** Factor for estimated sizes. The result is larger than any real subquery. */
export const ESTIMATE_FACTOR = 1e9
/** Places of items of all subqueries in memory. A place takes some hundred bytes. */
export const MAX_PLACES = 80_000
/** Places of one subquery, at least. */
export const MIN_PLACES = 100
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

/** Milliseconds: whether a list is long, and how long its first page takes. */
export const OBSERVATION_MS = 60_000
/** Milliseconds: the size of a subquery, which predicts where a page begins. */
export const SIZE_MS = 30_000
/** Milliseconds: whether the items of a list are unevenly distributed over its subqueries. This changes slowly. */
export const UNEVEN_MS = 10 * 60_000
/** Characters of all stored queries of one engine together. */
export const MAX_STORED_CHARS = 1024 ** 2
/** Milliseconds: whether there are cases. A case definition that is deployed in the meantime is noticed this much later. */
export const CASES_MS = 2000
/** Milliseconds: the deleted definitions, and where the database puts items without a value. */
export const DELETED_MS = 60_000
/**
 * Share of time that is spent on the search for deleted definitions. An engine with a long history needs seconds to sort it, and
 * must not do so all the time.
 */
export const DELETED_SHARE = 1 / 20
/** Intervals in which the last result is used while a new search runs. */
export const STALE_INTERVALS = 10
/** Items of the history in one read of this search. */
export const DELETED_READ_ITEMS = 1000
/** Deleted definitions that are searched for. */
export const MAX_DELETED = 1000

// Ids of instances.

/** Instances of one read, at least. */
export const MIN_INSTANCE_READ_ITEMS = 5000
/** Instances of one read. Short items are read in larger pages, because each request sorts all items. */
export const MAX_INSTANCE_READ_ITEMS = 10_000
/** Items that are measured to estimate their size. */
export const MEASURED_ITEMS = 20
/** Milliseconds after which ids are read again, however often they have been confirmed. */
export const INSTANCE_IDS_MS = 10 * 60_000
/** Milliseconds by which an instance may become visible after its start time, because its transaction must end first. */
export const LATE_INSTANCE_MS = 60_000

// Other forms of lists, and selections in bodies.

/** Tasks that are read at once for their topics. If there are more, each topic is requested. */
export const MAX_TOPIC_TASKS = 1000
/**
 * Ids in one query of a list that takes no body, because the ids must fit into a request line of 8 KB. The limit also applies to a
 * list in which one id may match many items.
 */
export const MAX_QUERY_IDS = 100
/** Ids for a list that takes only one id. Each id needs its own request. */
export const MAX_SINGLE_IDS = 1000
/** Ids that one query may select. */
export const MAX_SELECTED_IDS = 100_000
