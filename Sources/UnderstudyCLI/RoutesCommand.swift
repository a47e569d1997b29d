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

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var world: WorldOptions

    func run() throws {
        let vendors = try world.emulator().vendors
        let listing: (columns: [String], rows: [[String]]) =
            if failures { Self.failures(vendors) } else if switches { Self.switches(vendors) } else {
                Self.routes(vendors)
            }
        if json {
            Output.json(
                .array(listing.rows.map { row in .object(JSONObject(zip(listing.columns, row.map(JSON.string)))) }))
        } else {
            Output.table([listing.columns.map { $0.uppercased() }] + listing.rows)
        }
    }

    private static func routes(_ vendors: [any MountedVendor]) -> ([String], [[String]]) {
        let rows = vendors.flatMap { vendor in
            vendor.routes.flatMap { route in
                route.endpoints.map { endpoint in
                    [
                        vendor.identity.id, route.id, endpoint.method.rawValue, endpoint.pattern,
                        route.evidence.rawValue, route.source,
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
