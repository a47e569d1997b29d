/// The links of a page, relative to its own address.
///
/// That way they keep a prefix that selects a sandbox and the path of a proxy, of which a page knows nothing.
struct OktaPageLinks: Sendable {
    /// The way from the page up to the server's root: empty, or `../` for every folder.
    private let up: String

    /// Links for a page at that path, without a prefix.
    init(from path: some StringProtocol) {
        let slashes = path.utf8.prefix { $0 != UInt8(ascii: "?") }.count { $0 == UInt8(ascii: "/") }
        up = slashes > 1 ? String(repeating: "../", count: slashes - 1) : ""
    }

    /// The stylesheet, for whose path every sandbox has a route.
    var style: String { up + "login/page.css" }

    func journal(entry: Int?, failure: String) -> String {
        up + "_understudy/#/journal?" + (entry.map { "entry=\($0)" } ?? "failure=\(failure)")
    }
}
