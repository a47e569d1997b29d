import Tokens

/// The vendor for lists, files and commands.
extension VendorRuntime: LoadedVendor {
    @usableFromInline var identity: VendorIdentity { V.identity }
    @usableFromInline var failures: [FailureListing] { catalog.listing }
    // Not by a key path, which generic code would have to build at run time.
    @usableFromInline var failureNames: [String] { V.Failure.allCases.map { $0.rawValue } }
    @usableFromInline var switchDeclarations: [SwitchDeclaration] { V.Switches.declarations }
    @usableFromInline var actions: [ActionListing] { V.actions.map(\.listing) }
    @usableFromInline var tokenMinter: (any MintsTokens)? { vendor.tokenMinter }
    @usableFromInline var secretTexts: [String] { vendor.secretTexts }

    @usableFromInline var routes: [RouteListing] {
        table.map {
            RouteListing(
                id: $0.id, endpoints: $0.endpoints, evidence: $0.evidence, observed: $0.observed, source: $0.source,
                bodyLimit: $0.bodyLimit)
        }
    }

    @usableFromInline
    func putInForce() -> any AnyVendorInForce { VendorInForce(self) }
}
