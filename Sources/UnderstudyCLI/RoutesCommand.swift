import ArgumentParser
import Emulation
import JSON
import Understudy

struct RoutesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes", abstract: "Lists what is emulated, with evidence and source.",
        discussion: """
            Example: understudy routes --failures --switches --vendor rezolve
            Example: understudy routes --grep addressbook
            Example: understudy routes --openapi rezolve > rezolve.json

            Evidence: documented by the vendor, observed in its clients, inferred from those, or ours.
            Exit codes: 0 done, 1 nothing matches, 2 misuse.
            """)

    @Flag(help: "List the routes; the default without any of these flags.")
    var routes = false

    @Flag(help: "List the failures.")
    var failures = false

    @Flag(help: "List the switches.")
    var switches = false

    @Flag(help: "List the scenarios.")
    var scenarios = false

    @Flag(help: "List the actions that scenarios and control calls can perform.")
    var actions = false

    @Option(help: "Only what belongs to this vendor; may be repeated.", completion: .vendors)
    var vendor: [String] = []

    @Option(help: "Only rows that contain this text, ignoring case.")
    var grep: String?

    @Flag(help: "Write JSON: an array of rows, or an object with an array for each list.")
    var json = false

    @Option(help: "Write a vendor as OpenAPI 3.1, instead of a list.", completion: .vendors)
    var openapi: String?

    @Option(help: "Write a vendor's sockets as AsyncAPI 3.0, instead of a list.", completion: .vendors)
    var asyncapi: String?

    @OptionGroup var fixtureOptions: FixtureOptions

    private struct Listing {
        let name: String
        let columns: [String]
        let rows: [[String]]

        var json: JSON { .array(rows.map { row in .object(JSONObject(zip(columns, row.map(JSON.string)))) }) }
    }

    func run() throws {
        if grep?.isEmpty == true { throw Misuse("--grep is empty; leave it out, or give a text.") }
        let emulator = try fixtureOptions.emulator()
        if openapi != nil || asyncapi != nil { return try writeDocument(emulator) }
        let named = try vendor.map { emulator.vendors[try emulator.index(of: $0)] }
        let listings = listings(vendor.isEmpty ? emulator.vendors : named)
        if json {
            Output.json(
                listings.count == 1
                    ? listings[0].json : .object(JSONObject(listings.map { ($0.name, $0.json) })))
        } else {
            for (index, listing) in listings.enumerated() {
                if index > 0 { Output.line() }
                Output.table([listing.columns.map { $0.uppercased() }] + listing.rows)
            }
        }
        if grep != nil, listings.allSatisfy(\.rows.isEmpty) { throw AnswerIsNo() }
    }

    private func writeDocument(_ emulator: Emulator) throws {
        let isAlone = !namesLists && !json && vendor.isEmpty && grep == nil
        guard isAlone, let name = openapi ?? asyncapi, openapi == nil || asyncapi == nil else {
            throw Misuse("--openapi and --asyncapi write one document; leave out the other options for lists.")
        }
        let vendor = emulator.vendors[try emulator.index(of: name)]
        let document = try VendorDocument(vendor)
        guard let text = openapi == nil ? document.asyncAPI : document.openAPI else {
            throw AnswerIsNo(message: "\(vendor.identity.title) has no sockets.")
        }
        Output.json(text)
    }

    private var namesLists: Bool { routes || failures || switches || scenarios || actions }

    private func listings(_ vendors: [any AnyLoadedVendor]) -> [Listing] {
        var listings: [Listing] = []
        func list(
            _ isWanted: Bool, _ name: String, _ columns: [String], _ rows: (any AnyLoadedVendor) -> [[String]]
        ) {
            guard isWanted else { return }
            listings.append(Listing(name: name, columns: columns, rows: vendors.flatMap(rows).filter(matches)))
        }
        list(routes || !namesLists, "routes", ["vendor", "route", "method", "path", "evidence", "source"]) { vendor in
            vendor.routes.flatMap { route in
                route.endpoints.map { endpoint in
                    [
                        vendor.identity.id, route.id, endpoint.method.rawValue, endpoint.pattern,
                        route.evidence(of: endpoint).rawValue, route.source,
                    ]
                }
            }
        }
        list(failures, "failures", ["vendor", "failure", "status", "evidence", "source", "about"]) { vendor in
            vendor.failures.map {
                [vendor.identity.id, $0.name, String($0.status), $0.evidence.rawValue, $0.source, $0.about]
            }
        }
        list(switches, "switches", ["switch", "documented", "observed", "values", "source", "about"]) { vendor in
            vendor.switchDeclarations.map {
                let name = "\(vendor.identity.id).\($0.name)"
                return [name, $0.documented, $0.observed, $0.allowedValues, $0.source, $0.about]
            }
        }
        list(scenarios, "scenarios", ["scenario", "vendor", "states", "about"]) { vendor in
            vendor.scenarios.map { [$0.name, $0.vendor, $0.stateNames.joined(separator: ", "), $0.about] }
        }
        list(actions, "actions", ["vendor", "action", "members", "about"]) { vendor in
            vendor.actions.map { action in
                let members = action.members.map { $0.isRequired ? "\($0.name)!" : $0.name }
                return [vendor.identity.id, action.name, members.joined(separator: ", "), action.about]
            }
        }
        return listings
    }

    private func matches(_ row: [String]) -> Bool {
        guard let text = grep?.lowercased() else { return true }
        return !text.isEmpty && row.contains { $0.lowercased().firstRange(of: text) != nil }
    }
}
