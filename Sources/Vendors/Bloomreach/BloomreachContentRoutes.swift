import Emulation

/// The routes that answer with content.
extension Bloomreach {
    static let contentRoutes: [Route<Bloomreach>] = []
}
