/** An id that no image uses, so that an image that would run as root does not. */
const NOBODY = 65_532;

/** Together with the part of the containers this satisfies the Pod Security Standard `restricted`. */
export const POD_SECURITY = {
  runAsNonRoot: true,
  runAsUser: NOBODY,
  runAsGroup: NOBODY,
  fsGroup: NOBODY,
  seccompProfile: { type: 'RuntimeDefault' },
};

export const CONTAINER_SECURITY = {
  allowPrivilegeEscalation: false,
  privileged: false,
  capabilities: { drop: ['ALL'] },
};
