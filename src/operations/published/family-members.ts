import { CAMUNDA_MEMBERS } from './engine-families.ts'

/** A value in a response, with the members that are renamed if it is an object. Places are a tree from the root of the response. */
export interface MemberPlace {
  /** The new name of each member that is renamed, by the name in the response. */
  readonly names: ReadonlyMap<string, string>
  readonly members: ReadonlyMap<string, MemberPlace>
  /** The place of each item if the value is an array. Null if no item contains a place. */
  readonly items: MemberPlace | null
}

/** Objects with a member that has the name of the family, in the responses of some operations. */
interface FamilyMembers {
  /** The member, as Camunda names it. */
  readonly member: string
  /** Paths from the root of the response to the objects. `[]` is each item of an array, and the empty path is the root. */
  readonly places: readonly string[]
  readonly operations: readonly string[]
}

/** HAL responses of Operaton also have `embedded`, with the same items as `_embedded`. */
const TASK_ITEMS = ['[]', '_embedded.task[]', 'embedded.task[]'] as const

/** The classes with such members in the jars of Camunda 7.24.0 and Operaton 1.0.3 are `TaskDto`, `FormDto`, `HalTask` and `InternalsDto`. */
const FAMILY_MEMBERS: readonly FamilyMembers[] = [
  {
    member: 'camundaFormRef',
    places: [''],
    operations: ['getTask', 'getForm', 'getStartForm', 'getStartFormByKey', 'getStartFormByKeyAndTenantId'],
  },
  {
    member: 'camundaFormRef',
    places: TASK_ITEMS,
    operations: ['getTasks', 'queryTasks', 'executeFilterList', 'postExecuteFilterList'],
  },
  {
    // For a restricted caller, the gateway reads the list of the filter's tasks, and responds with its only item.
    member: 'camundaFormRef',
    places: ['', ...TASK_ITEMS],
    operations: ['executeFilterSingleResult', 'postExecuteFilterSingleResult'],
  },
  { member: 'camunda-integration', places: ['product.internals'], operations: ['getTelemetryData'] },
]

/** The places at which an operation's responses get the names of Camunda, by the id of the operation. No such response is cached. */
export const CAMUNDA_PLACES: ReadonlyMap<string, MemberPlace> = new Map(
  FAMILY_MEMBERS.flatMap(({ member, places, operations }) => {
    const root = treeOf(places, namesOf(member))
    return operations.map((operation) => [operation, root] as const)
  }),
)

function namesOf(member: string): ReadonlyMap<string, string> {
  return new Map([...CAMUNDA_MEMBERS].filter(([, camunda]) => camunda === member))
}

interface TreeNode extends MemberPlace {
  names: ReadonlyMap<string, string>
  readonly members: Map<string, TreeNode>
  items: TreeNode | null
}

function treeOf(paths: readonly string[], names: ReadonlyMap<string, string>): MemberPlace {
  const root = createNode()
  for (const path of paths) {
    const steps = path.split(/\.|(?=\[\])/).filter((step) => step !== '')
    steps.reduce(childOf, root).names = names
  }
  return root
}

function childOf(node: TreeNode, step: string): TreeNode {
  if (step === '[]') return (node.items ??= createNode())
  const child = node.members.get(step) ?? createNode()
  node.members.set(step, child)
  return child
}

function createNode(): TreeNode {
  return { names: new Map(), members: new Map(), items: null }
}
