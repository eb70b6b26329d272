import BridgeCore
import Testing

@Suite struct `The budget of memory` {
    private let mebibyte = 1 << 20

    @Test func `lets feeds have a quarter, and no more than 64 MiB`() {
        #expect(MemoryBudget(bound: 8 * mebibyte).feedLimit(histories: 0) == 2 * mebibyte)
        #expect(MemoryBudget(bound: 256 * mebibyte).feedLimit(histories: 0) == 64 * mebibyte)
        #expect(MemoryBudget(bound: 1 << 40).feedLimit(histories: 0) == 64 * mebibyte)
        #expect(MemoryBudget(bound: .max).feedLimit(histories: 0) == 64 * mebibyte)
    }

    @Test(arguments: [
        (0, 2048), (6144, 2048), (6145, 1024), (7168, 1024), (7169, 512), (7680, 512), (7681, 256),
        (9000, 256),
    ])
    func `has feeds give first, down to an eighth`(histories: Int, limit: Int) {
        let budget = MemoryBudget(bound: 8 * mebibyte)
        #expect(budget.feedLimit(histories: histories << 10) == limit << 10)
    }

    @Test func `lets histories have what the others leave`() {
        var budget = MemoryBudget(bound: 8 * mebibyte)
        #expect(budget.historyLimit == 7936 << 10)
        budget.outboxes = mebibyte
        budget.pages = mebibyte
        #expect(budget.historyLimit == 5888 << 10)
        budget.outboxes = 20 * mebibyte
        #expect(budget.historyLimit == 0)
        #expect(budget.historyTarget == 0)
    }

    @Test func `has histories not give for a single record that is too large`() {
        var budget = MemoryBudget(bound: 8 * mebibyte)
        budget.pages = 2 * mebibyte
        let limit = budget.historyLimit
        let feeds = budget.feedLimit(histories: 4 * mebibyte)
        budget.pages = 20 * mebibyte
        #expect(budget.historyLimit == limit)
        #expect(budget.feedLimit(histories: 4 * mebibyte) == feeds)
    }

    @Test func `brings histories down by more than is needed`() {
        let budget = MemoryBudget(bound: 8 * mebibyte)
        #expect(budget.historyTarget == budget.historyLimit - (128 << 10))
    }

    @Test func `lets outboxes have half, and not take anybody else's`() {
        var budget = MemoryBudget(bound: 8 * mebibyte)
        #expect(budget.outboxRoom == OutboxRoom(total: 4 * mebibyte, free: 4 * mebibyte))
        budget.outboxes = 3 * mebibyte
        #expect(budget.outboxRoom == OutboxRoom(total: 4 * mebibyte, free: mebibyte))
        budget.bound = 4 * mebibyte
        #expect(budget.outboxRoom == OutboxRoom(total: 2 * mebibyte, free: 0, excess: mebibyte))
    }

    @Test func `lets a page be the smaller the more the others have`() {
        var budget = MemoryBudget(bound: 16 * mebibyte)
        var sizes: [Int] = []
        for _ in 0..<300 {
            sizes.append(budget.pageSize(wanted: 64 << 10))
            budget.pages += sizes.last ?? 0
        }
        #expect(sizes.first == 64 << 10)
        #expect(sizes == sizes.sorted(by: >))
        #expect(sizes.last == 1)
        // Much is left for those who get a record each.
        #expect(budget.pages <= budget.pageLimit / 4 + sizes.count)
        budget.pages = 2 * budget.pageLimit
        #expect(budget.pageSize(wanted: 64 << 10) == 1)
    }

    @Test(arguments: [1 << 20, 4 << 20, 100 << 20, 1 << 34, .max])
    func `always leaves histories a fifth`(bound: Int) {
        var budget = MemoryBudget(bound: bound)
        budget.outboxes = budget.outboxLimit
        budget.pages = budget.pageLimit
        #expect(budget.historyLimit >= bound / 5)
    }
}
