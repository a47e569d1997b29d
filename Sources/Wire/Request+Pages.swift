import HTTPTypes

extension HTTPField.Name {
    /// What a browser requests the answer for; no script can set it (Fetch Metadata Request Headers, section 2.1).
    fileprivate static let fetchDestination = Self("Sec-Fetch-Dest") ?? .accept
    fileprivate static let upgradeInsecureRequests = Self("Upgrade-Insecure-Requests") ?? .accept
}

extension Request {
    /// Whether a browser may show the answer in a frame of a page.
    ///
    /// Browsers say so for addresses they trust, such as loopback and HTTPS. For others they still mark navigations,
    /// which may target a frame or a window.
    public var mayBeForFrame: Bool {
        guard let destination = fields.bytes(of: .fetchDestination) else {
            return fields.bytes(of: .upgradeInsecureRequests) != nil
        }
        return ["iframe", "frame", "embed", "object", "fencedframe"].contains { destination.elementsEqual($0.utf8) }
    }
}
