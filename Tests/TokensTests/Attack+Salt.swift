import Tokens

/// Signatures of one valid token with the test key, with salt lengths that RFC 7518 section 3.5 does not allow;
/// made with another library, since ours makes none.
extension Attack {
    static let saltAttacks: [Attack] = [
        Attack("PS256 without a salt", "signature", .ps256) { _ in "\(salted).\(noSalt)" },
        Attack("PS256 with a salt of 20 bytes", "signature", .ps256) { _ in "\(salted).\(shortSalt)" },
        Attack("PS256 with the longest salt", "signature", .ps256) { _ in "\(salted).\(longSalt)" },
        Attack("PS256 with another hash in the mask", "signature", .ps256) { _ in "\(salted).\(otherMask)" },
    ]

    /// The same with the correct salt, so that the others fail only for their salt.
    static let rightlySalted = "\(salted).\(rightSalt)"

    private static let salted = "eyJhbGciOiJQUzI1NiJ9.eyJzdWIiOiJtaXJhIiwiZXhwIjoxODAwMDAxODAwfQ"

    private static let noSalt =
        "S8U_Kmb0m62j_vaLXKBlX4Yt2LU280TngvTZgFS1pNXc_Y4Z21GN1WbjkLThnNEDKVZ3F6-p0Ui59o0ZIAI9WhF5vzw23lV3"
        + "dGnMaLYuCEMdpSoomAMrpwFs1cj7mpA4A2bwWHLNioDrdU54x812aCDnC5f80G2FPejydCDGkF-SQ22IrY6rfoNw7rZvNVmf"
        + "-nY79XNNJf3oEXuIKsKm_I5cq3xut7jRQ6xI7DHeprRlQ7ekTL4mBhEQS72UVChoaJDwpTSOlR3DxPwYy1yUZbXqp64nCOMG"
        + "e-9BBie0_Mx0rL2KMlFgKIUS65ozS8zPRSujIzXCC1LrkYiejG1rLg"

    private static let shortSalt =
        "MRkElYHT9PpZPVat_wzQZdVLtAPtcF5gOke0aywi4YPtb-nibiwmDl5owOm_OOQF6JTMHGpmoJ3E8GwPpncx7TV0rZSUTOUF"
        + "X5kyUo-or43ZwVJPq_d7OCaN1fgr5qTw2gjrz4ezYkfOymsYCM6bA29gridBKGW5gN9d7YDUT-H5-jCGdVebPUx6tmUBsazS"
        + "KkJYlVEV_pn3Dc3yJNP1PKqyQYtPnPv_zfSmc03JbLxeBX40L5vOmzq1rbcI7iJgdzjnOCJEuIuNP3RX78pTgLcUvB_j-AAS"
        + "D_Vxe0xATPom8aNF4cf-hJDhQQXiKhPoc0c-Bz7ZFruBBVXNjRyXEA"

    private static let longSalt =
        "gOGTJIRf1ty6kZoO0nga17X3Lg0cKcSEHOV_PgfS0GXlWgSNWK38447tt95ddCoZ09dyxPNT_4LjGBKLix91ikIyNR9ZhnBo"
        + "RP7eJSKXr2AwXN5F2bKQXHX0c53Ed5Z4Jv3aE1Tan4okwXLebZPYNiZ_pj0_JtaDLm9Rm2EcJLtOAiI5OP9mczUXg3PAQ906"
        + "1RwgMom9JoNCWQyDMmBkoQd35kz3FmWtAXkjK0eUCJXePZ1qa0UqKHbHBxDb-nmZ4qJWzUi8oDBbeukhiMPCilAlP0nKRUxF"
        + "Z6PHu7hv5Fm13EVUEq3iTfwXEnMGRoG_WqiwWKOyfFLn5L_yl6F1cQ"

    private static let rightSalt =
        "POt7yhYtvOqrnUHR4C6nyaXRNeWEOrJwGCz5dZiiPAxS9cWCv2y_tn65ivpgF9thXzpm-XpgzNc6gR81c3UrNcfCsz7LvFM7"
        + "mIXWaALExz5drB-inBWyomsDHuCfCDIdwfIzfzuEOCE6OsBF8iFCDNbCNf7sxoKej4RnPnJnP9zOXbyPx0FflWpz9yPM6CF6"
        + "Cdk3eHs_WM4GSCy1JwS2kpXsnvKr-SD-ZCx8neDASYqtZxAws_1KPJ_qhZSUHAuHbD747rvI-_BK-jW2XLoIwSobYpmJ7Z-a"
        + "r37aSZUKq6luwecxlJ5OfJwMo6seyqTFHE2jAMSztb9JVqtmkDfWfA"

    private static let otherMask =
        "OqeBReid9UIfkCVHgeGGpmbnKeTUxYRFFt1xgGROjGEjL97R1FiU1wHuuzdn96YANh3tBmHGdRPMrhbKDyV0mxmjMIe4n7j_"
        + "Nzh7AKLTTLpmFxhhWNIlLCdwPCgGVu9StQAfYBzkHMJOufy1tlIVthSTEQfqB4Tve8MquInM3tmChrQT2QVlbs3Jj-x1kpbT"
        + "Rli8zuoADnrCe15mP7rN__s14P3BmjWNsGV2AwrZZ_JAvTxXsfllUZ3U0ob4CxSLOz7aBxuZKIHyCyEE14mXKtQaZhXqTdGq"
        + "2PDf9RllMtX7O-_07eNCZA_UzF8XcA1YRj5iSMBoNgIZjulicUxYYQ"
}
