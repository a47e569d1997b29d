import ArgumentParser
import Emulation
import JSON
import Understudy

/// `understudy routes`
struct RoutesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes", abstract: "Lists what is emulated, and where each thing is known from.",
        discussion: """
            Example: understudy routes --failures

            Evidence: documented by the vendor, observed in its clients, inferred from those, or ours.
            """)

    @Flag(help: "List the failures instead.")
    var failures = false

    @Flag(help: "List the switches instead.")
    var switches = false

    @Flag(help: "List the scenarios instead.")
    var scenarios = false

    @Flag(help: "List the actions that scenarios and control calls can do instead.")
    var actions = false

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var world: WorldOptions

    func run() throws {
        let vendors = try world.emulator().vendors
        let listing = listing(vendors)
        if json {
            Output.json(
                .array(listing.rows.map { row in .object(JSONObject(zip(listing.columns, row.map(JSON.string)))) }))
        } else {
            Output.table([listing.columns.map { $0.uppercased() }] + listing.rows)
        }
    }

    private func listing(_ vendors: [any MountedVendor]) -> (columns: [String], rows: [[String]]) {
        if failures { return Self.failures(vendors) }
        if switches { return Self.switches(vendors) }
        if scenarios { return Self.scenarios(vendors) }
        return actions ? Self.actions(vendors) : Self.routes(vendors)
    }

    private static func routes(_ vendors: [any MountedVendor]) -> ([String], [[String]]) {
        let rows = vendors.flatMap { vendor in
            vendor.routes.flatMap { route in
                route.endpoints.map { endpoint in
                    [
                        vendor.identity.id, route.id, endpoint.method.rawValue, endpoint.pattern,
                        route.evidence(of: endpoint).rawValue, route.source,
                    ]
                }
            }
        }
        return (["vendor", "route", "method", "path", "evidence", "source"], rows)
    }

    private static func failures(_ vendors: [any MountedVendor]) -> ([String], [[String]]) {
        let rows = vendors.flatMap { vendor in
            vendor.failures.map {
                [vendor.identity.id, $0.name, String($0.status), $0.evidence.rawValue, $0.source, $0.about]
            }
        }
        return (["vendor", "failure", "status", "evidence", "source", "about"], rows)
    }

    private static func scenarios(_ vendors: [any MountedVendor]) -> ([String], [[String]]) {
        let rows = vendors.flatMap(\.scenarios).map {
            [$0.name, $0.vendor, $0.stateNames.joined(separator: ", "), $0.about]
        }
        return (["scenario", "vendor", "states", "about"], rows)
    }

    private static func actions(_ vendors: [any MountedVendor]) -> ([String], [[String]]) {
        let rows = vendors.flatMap { vendor in
            vendor.actions.map { action in
                let members = action.members.map { $0.isRequired ? "\($0.name)!" : $0.name }
                return [vendor.identity.id, action.name, members.joined(separator: ", "), action.about]
            }
        }
        return (["vendor", "action", "members", "about"], rows)
    }

    private static func switches(_ vendors: [any MountedVendor]) -> ([String], [[String]]) {
        let rows = vendors.flatMap { vendor in
            vendor.switchDeclarations.map {
                [
                    "\(vendor.identity.id).\($0.name)", $0.documented, $0.observed, $0.allowedValues, $0.source,
                    $0.about,
                ]
            }
        }
        return (["switch", "documented", "observed", "values", "source", "about"], rows)
    }
}
