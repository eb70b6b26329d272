import Testing

/// The rules for pages, tried on small pages.
struct PageRuleTests {
    private let makefile = SourceText(
        path: "Makefile",
        text: ".PHONY: run ghost\nrun: ## start\n\t@echo\ntest: run\n"
    )

    @Test(arguments: [
        ("```sh\nmake run\nmake test\n```", []),
        ("```sh\nmake ghost\n```", ["there is no make target ghost"]),
        ("```sh\ncd wsbridge && make run install\n```", ["there is no make target install"]),
        ("```sh\nmake run ARGS=\"--listen :9000\"\n```", []),
        ("```sh\ncurl -d 'make love' http://127.0.0.1\n```", []),
        ("```\nmake ghost\n```\nmake ghost", []),
    ])
    func `a page may name targets that the Makefile has`(text: String, messages: [String]) {
        let page = SourceText(path: "README.md", text: text)
        #expect(PageRule.unknownTargets(in: page, makefile: makefile).map(\.message) == messages)
    }

    @Test(arguments: [
        ("[here](a.md)", ["docs/x/a.md"]),
        ("[up](../b.md#part), [down](./c/d.md)", ["docs/b.md", "docs/x/c/d.md"]),
        ("[out](https://example.org/a.md), [part](#part)", []),
    ])
    func `a relative link is looked up from its page`(text: String, paths: [String]) {
        var asked: [String] = []
        let page = SourceText(path: "docs/x/page.md", text: text)
        let dead = PageRule.deadLinks(in: page) {
            asked.append($0)
            return false
        }
        #expect(asked == paths)
        #expect(dead.count == paths.count)
    }
}
