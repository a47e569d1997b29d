import Emulation
import Support
import Testing
import Understudy

@Suite("The rules of each vendor")
struct RuleListingTests {
    private static let loaders = Catalog.vendors

    @Test("are listed with an id of the vendor, what they expect and a source", arguments: loaders.map(\.identity.id))
    func listing(_ vendor: String) throws {
        let module = try #require(Self.loaders.first { $0.identity.id == vendor })
        let rules = module.rules + module.checkers.flatMap(\.rules)
        #expect(rules.count > 20)
        for rule in rules {
            #expect(rule.id.hasPrefix(vendor + "."), "\(rule)")
            #expect(!rule.expects.isEmpty && !rule.subject.isEmpty, "\(rule)")
            #expect(rule.source == nil || rule.source?.isEmpty == false, "\(rule)")
            if rule.source?.hasPrefix("ours") == true { #expect(rule.evidence == .ours, "\(rule)") }
        }
    }

    @Test("have one id each for a kind of caller, which tells the same check", arguments: loaders.map(\.identity.id))
    func ids(_ vendor: String) throws {
        let module = try #require(Self.loaders.first { $0.identity.id == vendor })
        for (id, rules) in Dictionary(grouping: module.rules, by: \.id) {
            #expect(Set(rules.map(\.subject)).count == rules.count, "\(id) stands twice in a list")
            #expect(Set(rules.map(\.check)).count == 1, "\(id)")
        }
    }

    @Test("lead to failures of the vendor", arguments: loaders.map(\.identity.id))
    func failures(_ vendor: String) throws {
        let module = try #require(Self.loaders.first { $0.identity.id == vendor })
        let mounted = try module.load(Repository.fixtures)
        let known = Set(mounted.failures.map(\.name))
        for rule in module.rules { #expect(known.isSuperset(of: rule.failures), "\(rule)") }
        #expect(mounted.failureNames == mounted.failures.map(\.name))
    }
}
