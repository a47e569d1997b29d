import HTTPTypes
import Support
import Testing

/// The methods that a 405 lists for its path, for the routes of all vendors.
@Suite("The methods of a path")
struct AllowTests {
    /// A vendor's path with its parameters filled in.
    struct Place: Sendable, CustomStringConvertible {
        let path: String
        let route: String
        let method: HTTPRequest.Method

        var description: String { "\(method.rawValue) \(path)" }

        static let all: [Place] = {
            let vendors = (try? Stage.shared().emulator.vendors) ?? []
            return vendors.flatMap { vendor in
                vendor.routes.flatMap { route in
                    route.endpoints.map { endpoint in
                        let segments = endpoint.pattern.split(separator: "/").map { $0.hasPrefix("{") ? "x" : $0 }
                        return Place(
                            path: "/" + segments.joined(separator: "/"), route: route.id, method: endpoint.method)
                    }
                }
            }
        }()
    }

    private static let methods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .options]

    /// The methods that match a route at a path.
    private func methods(at path: String, _ world: World) -> Set<String> {
        Set(
            Self.methods.filter {
                if case .route = world.emulator.routes.match($0, path[...]) { true } else { false }
            }.map(\.rawValue))
    }

    private func listed(_ answer: ReceivedAnswer) -> [String] {
        (answer["allow"] ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
    }

    @Test("a refused method is answered with each of the others, once", arguments: Place.all)
    func natural(_ place: Place) async throws {
        let world = try await World()
        let known = methods(at: place.path, world)
        for method in Self.methods where !known.contains(method.rawValue) {
            let answer = try await world.call(method, place.path)
            guard answer.status == 405 else { continue }
            let listed = listed(answer)
            #expect(Set(listed) == known, "\(method.rawValue) \(place.path): \(listed)")
            #expect(listed.count == Set(listed).count, "\(listed)")
        }
    }

    @Test("an armed 405 says the same of its path", arguments: Place.all)
    func armed(_ place: Place) async throws {
        let world = try await World()
        let vendor = try #require(
            world.emulator.vendors.first { $0.routes.contains { $0.id == place.route } })
        guard vendor.failures.contains(where: { $0.name == "method-not-allowed" }),
            !place.path.hasSuffix("/x") || place.method != .options
        else { return }
        try await world.arm("method-not-allowed", at: place.route)
        let answer = try await world.call(place.method, place.path)
        guard answer.status == 405 else { return }
        let listed = listed(answer)
        #expect(Set(listed) == methods(at: place.path, world), "\(place): \(listed)")
        #expect(listed.count == Set(listed).count, "\(listed)")
    }
}
