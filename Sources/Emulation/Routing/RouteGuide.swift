/// Knows all routes, to tell somebody whose path found none which one was meant; asked only when somebody reads that.
public final class RouteGuide: Sendable {
    let table: RouteTable

    /// A guide over the routes of all vendors.
    public init(_ table: RouteTable) {
        self.table = table
    }
}
